import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '@/lib/store/store';
import { countOf } from '../rollup/histogram';
import { ALL_TYPES, OTHER_TYPES, seriesOfType } from '../rollup/series-key';
import { HOW } from '../rollup/slot';
import { sampleTables, shapeCalled, testOutbox } from '../testing';
import { FAST, eventually, useStage } from './testing';

const OUTBOX = 'orders';
const shape = shapeCalled('published-at');
const stage = useStage([testOutbox(shape, OUTBOX)], (observed) => observed.query(sampleTables(shape, OUTBOX).join(';\n')));
const { observed, kept, collect, total, totals, minutes, progress, errors } = stage;
beforeEach(() => observed.query('truncate orders.outbox_events'));

const publish = (count: number, ago: string, { latency = '100 ms', type = 'paid' } = {}): Promise<unknown> =>
  observed.query(
    `insert into orders.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at)
     select gen_random_uuid(), 'a', 'a', $1, '{}', now() - $2::interval - $3::interval, now() - $2::interval from generate_series(1, $4::int)`,
    [type, ago, latency, count],
  );
const nowMinute = (): number => Math.floor(Date.now() / 60_000);
const done = (collector: ReturnType<typeof collect>): Promise<void> =>
  eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'collecting', method: 'published_index', backfill: null }));

describe('a collector', () => {
  it('reads the past once, then what is published since, each event once', async () => {
    await publish(50, '3 hours');
    await publish(70, '3 days', { latency: '2 hours' });
    await publish(5, '0 s');
    const collector = collect();
    await done(collector);
    expect((await total(OUTBOX)).published).toBe(125);
    await publish(11, '0 s', { latency: '-1 s' });
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(136));
    const slot = await total(OUTBOX);
    expect(countOf(slot.latency)).toBe(136);
    expect(slot.created).toBe(136);
    expect(slot.negative).toBe(11);
    expect(slot.latencySumMs).toBeCloseTo(55 * 100 + 70 * 7_200_000, 3);
    expect(errors).toEqual([]);
  });

  it('keeps minutes of two days, and tells the same of older time by hours and days', async () => {
    await publish(40, '47 hours');
    await publish(60, '60 hours');
    await publish(80, '20 days');
    await done(collect());
    expect((await total(OUTBOX)).published).toBe(180);
    const tiers = await kept.query<{ tier: string; first: number }>(
      `select tier, min(at_minute) as first from rollup where tier <> 'ever' group by tier`,
    );
    const first = Object.fromEntries(tiers.map((row) => [row.tier, nowMinute() - row.first]));
    expect(first.minute).toBeLessThanOrEqual(49 * 60);
    expect(first.hour).toBeGreaterThanOrEqual(20 * 1_440 - 60);
    expect(first.day).toBeGreaterThanOrEqual(20 * 1_440 - 1_440);
  });

  it('reads no further back than history is kept', async () => {
    await publish(10, '9 days');
    await publish(20, '11 days');
    await done(collect({ retentionDays: 10 }));
    expect((await total(OUTBOX)).published).toBe(10);
  });

  it('marks every minute since the first row as watched, and none before it', async () => {
    await publish(1, '30 minutes');
    await publish(1, '10 minutes');
    await done(collect());
    const line = await minutes(OUTBOX, nowMinute() - 60, nowMinute());
    const watched = [...line].filter(([, { slot }]) => slot.minutes === 1).map(([minute]) => nowMinute() - minute);
    expect(watched.length).toBeGreaterThanOrEqual(29);
    expect(Math.max(...watched)).toBeLessThanOrEqual(31);
    expect([...line.values()].every(({ slot }) => slot.minutes === 0 || (slot.how & HOW.backfilled) !== 0 || slot.published === 0)).toBe(
      true,
    );
  });

  it('counts events of more types than are kept apart under one series', async () => {
    await observed.query(
      `insert into orders.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at)
       select gen_random_uuid(), 'a', 'a', 'type ' || i % 250, '{}', now() - interval '1 h', now() - interval '1 h' from generate_series(0, 999) as i`,
    );
    await done(collect());
    const series = await totals(OUTBOX);
    expect(series.size).toBe(202);
    expect(series.get(OTHER_TYPES)?.published).toBe(200);
    expect([...series].reduce((sum, [name, slot]) => sum + (name === ALL_TYPES ? 0 : slot.published), 0)).toBe(1_000);
  });

  it('keeps the history of rows that their owner has purged', async () => {
    await publish(30, '20 minutes');
    await publish(30, '2 minutes');
    const collector = collect();
    await done(collector);
    await observed.query('delete from orders.outbox_events');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await total(OUTBOX)).toMatchObject({ published: 60, created: 60 });
  });

  it('finds rows whose transaction ended late, and adds them once', async () => {
    await publish(30, '4 minutes');
    await publish(10, '2 minutes', { type: 'sent' });
    const collector = collect();
    await done(collector);
    await publish(4, '2 minutes', { type: 'sent', latency: '7 s' });
    await publish(1, '2 minutes', { type: 'new' });
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(45));
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const series = await totals(OUTBOX);
    expect(series.get(ALL_TYPES)).toMatchObject({ published: 45, created: 45 });
    expect(series.get(seriesOfType('sent'))).toMatchObject({ published: 14, created: 14 });
    expect(series.get(seriesOfType('new'))).toMatchObject({ published: 1 });
    expect(series.get(seriesOfType('sent'))?.latencySumMs).toBeCloseTo(29_000, 3);
  });

  it('leaves the time it was away as a gap where rows are gone, and fills it where they are there', async () => {
    await publish(10, '90 minutes');
    const first = collect();
    await done(first);
    await first.stop();
    // As if it had been stopped an hour ago.
    const before = await progress(OUTBOX);
    const anHourAgo = new Date(Date.now() - 3_600_000).toISOString().replace('Z', '000Z');
    await kept.query(`update collector_state set state = state || jsonb_build_object('foldedTo', $1::text, 'lookedAt', $1::text)`, [
      anHourAgo,
    ]);
    await kept.query(`delete from rollup where tier = 'minute' and at_minute >= $1`, [nowMinute() - 60]);
    await publish(7, '50 minutes');
    await publish(9, '20 minutes');
    await observed.query(`delete from orders.outbox_events where published_at < now() - interval '30 minutes'`);
    const second = collect();
    await done(second);
    expect(await total(OUTBOX)).toMatchObject({ published: 19 });
    const line = await minutes(OUTBOX, nowMinute() - 80, nowMinute());
    const watched = [...line].filter(([, { slot }]) => slot.minutes === 1).map(([minute]) => nowMinute() - minute);
    expect(watched.filter((ago) => ago > 22 && ago < 58)).toEqual([]);
    expect(watched.filter((ago) => ago > 2 && ago < 19)).toHaveLength(16);
    expect(watched.filter((ago) => ago > 62 && ago < 79)).toHaveLength(16);
    expect((await progress(OUTBOX))?.watchedSince).toBe(before?.watchedSince);
  });

  it('goes on where it was when it is started again, and counts nothing twice', async () => {
    await publish(20, '5 minutes');
    for (let start = 0; start < 4; start += 1) {
      const collector = collect();
      await done(collector);
      await publish(3, '0 s');
      await collector.stop();
    }
    await done(collect());
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(32));
  });

  it('gives its leases back when it stops, and another one goes on at once', async () => {
    await publish(5, '1 minute');
    const first = collect({ timing: { ...FAST, lease: 60 } });
    await done(first);
    const second = collect({ timing: { ...FAST, lease: 60 } });
    await eventually(() => expect(second.status(OUTBOX).state).toBe('collecting'));
    await first.stop();
    await publish(6, '0 s');
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
  });

  it('loses nothing while the store is away: what it could not write is counted later', async () => {
    await publish(5, '1 minute');
    const own = openStore(kept.url);
    const collector = collect({ store: own });
    await done(collector);
    await kept.query('alter table rollup rename to rollup_away');
    await publish(6, '0 s');
    await eventually(() => expect(errors.length).toBeGreaterThan(0));
    await kept.query('alter table rollup_away rename to rollup');
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
    await collector.stop();
    await own.close();
  });

  it('says that it is blind while the table cannot be read, and reads on when it can', async () => {
    await publish(5, '1 minute');
    const collector = collect();
    await done(collector);
    await observed.query('alter table orders.outbox_events rename to away');
    await eventually(() => expect(collector.status(OUTBOX).state).toBe('blind'));
    expect((await progress(OUTBOX))?.blind).toBe(true);
    await publish(0, '0 s').catch(() => undefined);
    await observed.query('alter table orders.away rename to outbox_events');
    await publish(6, '0 s');
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
    expect(collector.status(OUTBOX).state).toBe('collecting');
  });

  it('looks less often while looks run into their limits, says so, and recovers', async () => {
    await publish(5, '1 minute');
    const collector = collect();
    await done(collector);
    const client = new pg.Client({ connectionString: observed.url });
    await client.connect();
    await client.query('begin; lock table orders.outbox_events');
    await eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'slowed' }));
    expect(collector.status(OUTBOX).everyMs).toBeGreaterThanOrEqual(200);
    await client.query('commit');
    await client.end();
    await publish(6, '0 s');
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
    await eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'collecting' }));
  });

  it('looks less often where looking is dear, and tells what it has cost', async () => {
    await publish(5, '1 minute');
    const collector = collect({ timing: { ...FAST, duty: 0.001 } });
    await eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'slowed', backfill: null }));
    const { cost, everyMs } = collector.status(OUTBOX);
    expect(everyMs).toBeGreaterThan(1_000);
    expect(cost.rows).toBeGreaterThanOrEqual(5);
    expect(cost.statements).toBeGreaterThan(4);
    expect(cost.milliseconds).toBeGreaterThan(0);
  });

  it('samples what waits into the minute it is', async () => {
    await publish(1, '1 minute');
    const collector = collect({ depthNow: () => Promise.resolve({ waiting: 12, dead: null, oldestAgeMs: 4_000 }) });
    await done(collector);
    await eventually(async () => expect((await total(OUTBOX)).depth?.samples).toBeGreaterThan(3));
    expect((await total(OUTBOX)).depth).toMatchObject({ waitingMax: 12, waitingLast: 12, deadLast: -1, oldestAgeMaxMs: 4_000 });
  });
});
