import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { openStore } from '@/lib/store/store';
import { countOf } from '@/lib/rollup/histogram';
import { ALL_TYPES, OTHER_TYPES, seriesOfType, HOW } from '@/lib/rollup/cell';
import { lineTo } from '@/scripts/testing/breaking-line';
import { FAST, ORDERS, eventually, useStage } from '@/fixtures/collector/stage';

const OUTBOX = 'orders';
const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];
const nowMinute = (): number => Math.floor(Date.now() / 60_000);

/** Keeps everybody else from a table until the function answered is called. */
const LOCK: Record<EngineKey, (url: string, table: string) => Promise<() => Promise<void>>> = {
  async postgres(url, table) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`begin; lock table ${table}`);
    return () => client.end();
  },
  async mysql(url, table) {
    const client = await mysql.createConnection(url);
    await client.query(`lock tables ${table} write`);
    return () => client.end();
  },
};

/** A stage with the outbox of an order service, empty before each test. */
function useOrders(engine: EngineKey) {
  const { outbox, table, create, publish } = ORDERS[engine];
  const stage = useStage([outbox], create, engine);
  const { observed, kept, collect, total, totals, minutes, progress, errors } = stage;
  beforeEach(() => observed.query(`truncate table ${table}`));
  return {
    observed,
    kept,
    collect,
    total,
    totals,
    minutes,
    progress,
    errors,
    table,
    publish: (count: number, agoSeconds: number, event: Parameters<typeof publish>[3] = {}): Promise<unknown> =>
      publish(observed, count, agoSeconds, event),
    done: (collector: ReturnType<typeof collect>): Promise<void> =>
      eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'collecting', method: 'published_index', backfill: null })),
  };
}

describe.each(ENGINE_KEYS)('a collector of %s', (engine) => {
  const { observed, kept, table, collect, publish, done, total, totals, minutes, progress, errors } = useOrders(engine);

  it('reads the past once, then what is published since, each event once', async () => {
    await publish(50, 3 * HOUR);
    await publish(70, 3 * DAY, { latencyMs: 7_200_000 });
    await publish(5, 0);
    const collector = collect();
    await done(collector);
    expect((await total(OUTBOX)).published).toBe(125);
    await publish(11, 0, { latencyMs: -1_000 });
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(136));
    const cell = await total(OUTBOX);
    expect(countOf(cell.latency)).toBe(136);
    expect(cell.created).toBe(136);
    expect(cell.negative).toBe(11);
    expect(cell.latencySumMs).toBeCloseTo(55 * 100 + 70 * 7_200_000, 3);
    expect(errors).toEqual([]);
  });

  it('marks every minute since the first row as watched, and none before it', async () => {
    await publish(1, 30 * MINUTE);
    await publish(1, 10 * MINUTE);
    await done(collect());
    const line = await minutes(OUTBOX, nowMinute() - 60, nowMinute());
    const watched = [...line].filter(([, { cell }]) => cell.minutes === 1).map(([minute]) => nowMinute() - minute);
    expect(watched.length).toBeGreaterThanOrEqual(29);
    expect(Math.max(...watched)).toBeLessThanOrEqual(31);
    expect([...line.values()].every(({ cell }) => cell.minutes === 0 || (cell.how & HOW.backfilled) !== 0 || cell.published === 0)).toBe(
      true,
    );
  });

  it('counts events of more types than are kept apart under one series', async () => {
    await publish(1_000, HOUR, { type: `concat('type ', i % 250)` });
    await done(collect());
    const series = await totals(OUTBOX);
    expect(series.size).toBe(202);
    expect(series.get(OTHER_TYPES)?.published).toBe(200);
    expect([...series].reduce((sum, [name, cell]) => sum + (name === ALL_TYPES ? 0 : cell.published), 0)).toBe(1_000);
  });

  it('finds rows whose transaction ended late, and adds them once', async () => {
    await publish(30, 4 * MINUTE);
    await publish(10, 2 * MINUTE, { type: `'sent'` });
    const collector = collect();
    await done(collector);
    await publish(4, 2 * MINUTE, { type: `'sent'`, latencyMs: 7_000 });
    await publish(1, 2 * MINUTE, { type: `'new'` });
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(45));
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const series = await totals(OUTBOX);
    expect(series.get(ALL_TYPES)).toMatchObject({ published: 45, created: 45 });
    expect(series.get(seriesOfType('sent'))).toMatchObject({ published: 14, created: 14 });
    expect(series.get(seriesOfType('new'))).toMatchObject({ published: 1 });
    expect(series.get(seriesOfType('sent'))?.latencySumMs).toBeCloseTo(29_000, 3);
  });

  it('leaves the time it was away as a gap where rows are gone, and fills it where they are there', async () => {
    await publish(10, 90 * MINUTE);
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
    await publish(7, 50 * MINUTE);
    await publish(9, 20 * MINUTE);
    await observed.query(`delete from ${table} where published_at < current_timestamp - interval '30' minute`);
    const second = collect();
    await done(second);
    // What it is to go on from says that it has read the past already: it has yet to look.
    await eventually(async () => expect(await total(OUTBOX)).toMatchObject({ published: 19 }));
    const line = await minutes(OUTBOX, nowMinute() - 80, nowMinute());
    const watched = [...line].filter(([, { cell }]) => cell.minutes === 1).map(([minute]) => nowMinute() - minute);
    expect(watched.filter((ago) => ago > 22 && ago < 58)).toEqual([]);
    expect(watched.filter((ago) => ago > 2 && ago < 19)).toHaveLength(16);
    expect(watched.filter((ago) => ago > 62 && ago < 79)).toHaveLength(16);
    expect((await progress(OUTBOX))?.watchedSince).toBe(before?.watchedSince);
  });

  it('tells that rows may have gone uncounted where their owner purges them within minutes', async () => {
    await publish(20, 10 * MINUTE);
    await publish(30, MINUTE);
    await done(collect());
    const hows = async (): Promise<number[]> =>
      [...(await minutes(OUTBOX, nowMinute() - 15, nowMinute())).values()].flatMap(({ cell }) => (cell.published > 0 ? [cell.how] : []));
    expect((await hows()).some((how) => (how & HOW.purgedYoung) !== 0)).toBe(false);
    await observed.query(`delete from ${table}`);
    await eventually(async () => expect((await hows()).map((how) => how & HOW.purgedYoung)).toEqual([0, HOW.purgedYoung]));
    expect((await total(OUTBOX)).published).toBe(50);
  });

  it('goes on where it was when it is started again, and counts nothing twice', async () => {
    await publish(20, 5 * MINUTE);
    for (let start = 0; start < 4; start += 1) {
      const collector = collect();
      await done(collector);
      await publish(3, 0);
      await collector.stop();
    }
    await done(collect());
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(32));
  });

  it('says that it is blind while the table cannot be read, and reads on when it can', async () => {
    await publish(5, MINUTE);
    const collector = collect();
    await done(collector);
    await observed.query(`alter table ${table} rename to away`);
    await eventually(() => expect(collector.status(OUTBOX).state).toBe('blind'));
    await eventually(async () => expect((await progress(OUTBOX))?.blind).toBe(true));
    await publish(0, 0).catch(() => undefined);
    await observed.query(`alter table ${table.replace('outbox_events', 'away')} rename to outbox_events`);
    await publish(6, 0);
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
    expect(collector.status(OUTBOX).state).toBe('collecting');
  });

  it('looks less often while looks run into their limits, says so, and recovers', async () => {
    await publish(5, MINUTE);
    const collector = collect();
    await done(collector);
    const unlock = await LOCK[engine](observed.url, table);
    await eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'slowed' }));
    expect(collector.status(OUTBOX).everyMs).toBeGreaterThanOrEqual(200);
    await unlock();
    await publish(6, 0);
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
    await eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'collecting' }));
  });
});

describe('a collector', () => {
  const { observed, kept, table, collect, publish, done, total, errors } = useOrders('postgres');

  it('keeps minutes of two days, and tells the same of older time by hours and days', async () => {
    await publish(40, 47 * HOUR);
    await publish(60, 60 * HOUR);
    await publish(80, 20 * DAY);
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

  it('keeps the history of rows that their owner has purged', async () => {
    await publish(30, 20 * MINUTE);
    await publish(30, 2 * MINUTE);
    const collector = collect();
    await done(collector);
    await observed.query(`delete from ${table}`);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await total(OUTBOX)).toMatchObject({ published: 60, created: 60 });
  });

  it('reads no further back than history is kept', async () => {
    await publish(10, 9 * DAY);
    await publish(20, 11 * DAY);
    await done(collect({ retentionDays: 10 }));
    expect((await total(OUTBOX)).published).toBe(10);
  });

  it('gives its leases back when it stops, and another one goes on at once', async () => {
    await publish(5, MINUTE);
    const first = collect({ timing: { ...FAST, lease: 60 } });
    await done(first);
    const second = collect({ timing: { ...FAST, lease: 60 } });
    await eventually(() => expect(second.status(OUTBOX).state).toBe('collecting'));
    await first.stop();
    await publish(6, 0);
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
  });

  it('loses nothing while the store is away: what it could not write is counted later', async () => {
    await publish(5, MINUTE);
    const own = openStore(kept.url);
    const collector = collect({ store: own });
    await done(collector);
    await kept.query('alter table rollup rename to rollup_away');
    await publish(6, 0);
    await eventually(() => expect(errors.length).toBeGreaterThan(0));
    await kept.query('alter table rollup_away rename to rollup');
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
    await collector.stop();
    await own.close();
  });

  it('asks a store that is away no more than once a tick, while the table is away too', async () => {
    await publish(5, MINUTE);
    const line = await lineTo(kept.url, null);
    const own = openStore(line.url);
    let asked = 0;
    const counted = {
      ...own,
      get db() {
        asked += 1;
        return own.db;
      },
    };
    await observed.query(`alter table ${table} rename to away`);
    const collector = collect({ store: counted, tickMs: 1_000 });
    await eventually(() => expect(errors.length).toBeGreaterThan(0));
    errors.length = 0;
    line.cut();
    await eventually(() => expect(errors).toContainEqual(expect.objectContaining({ code: 'connection', ofStore: true })));
    asked = 0;
    await sleep(3_000);
    expect(asked).toBeLessThan(15);
    line.mend();
    await observed.query(`alter table ${table.replace('outbox_events', 'away')} rename to outbox_events`);
    await publish(6, 0);
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(11));
    await collector.stop();
    await own.close();
    line.close();
  });

  it('looks less often where looking is dear, and tells what it has cost', async () => {
    await publish(5, MINUTE);
    const collector = collect({ timing: { ...FAST, duty: 0.001 } });
    await eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'slowed', backfill: null }));
    const { cost, everyMs } = collector.status(OUTBOX);
    expect(everyMs).toBeGreaterThan(1_000);
    expect(cost.rows).toBeGreaterThanOrEqual(5);
    expect(cost.statements).toBeGreaterThan(4);
    expect(cost.milliseconds).toBeGreaterThan(0);
  });

  it('samples what waits into the minute it is', async () => {
    await publish(1, MINUTE);
    const collector = collect({ depthNow: () => Promise.resolve({ waiting: 12, dead: null, oldestAgeMs: 4_000 }) });
    await done(collector);
    await eventually(async () => expect((await total(OUTBOX)).depth?.samples).toBeGreaterThan(3));
    expect((await total(OUTBOX)).depth).toMatchObject({ waitingMax: 12, waitingLast: 12, deadLast: -1, oldestAgeMaxMs: 4_000 });
  });
});
