/** Figures of windows of which the console knows a part: it has only just begun to watch, or is still reading the past. */
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { deletesObserver } from '@/lib/history/collector/observers/departures';
import { openHistory } from '@/lib/history/history';
import { computeInStore } from '@/lib/live/take-reading';
import { defineShape } from '@/lib/shape/define';
import type { ShapeInput } from '@/lib/shape/shape';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { ORDERS, eventually, series, timingOn, useStage, type Stage } from '@/fixtures/collector/stage';
import { testOutbox, type TestOutbox } from '@/fixtures/outboxes';
import type { AnyTestDatabase } from '@/scripts/testing/outbox';
import { createSnapshots, type Snapshots } from './snapshots';

const goesWhenPublished = (table: string, columns: ShapeInput['columns']): TestOutbox =>
  testOutbox(
    defineShape({
      key: 'inline',
      label: table,
      origin: 'test',
      engines: ['postgres', 'mysql'],
      table,
      columns,
      states: [{ state: 'pending', when: { column: 'id', isNull: false } }],
    }),
    'public',
    { id: table, inline: true, table },
  );

const LEAVING = {
  dated: goesWhenPublished('dated', { id: 'id', type: 'kind', createdAt: 'created_at' }),
  bare: goesWhenPublished('bare', { id: 'id', type: 'kind' }),
};
const COLUMNS: Record<EngineKey, string> = {
  postgres: `id bigint generated always as identity primary key, kind varchar(40) not null, created_at timestamptz not null default now()`,
  mysql: `id bigint auto_increment primary key, kind varchar(40) not null, created_at datetime(6) not null default (utc_timestamp(6))`,
};
const numbers = (engine: EngineKey, count: number): string =>
  engine === 'postgres' ? `generate_series(1, ${count}) as i` : `${series(count)}`;

const snapshotsOf = ({ directory, store }: Stage): Snapshots =>
  createSnapshots(directory, {
    history: openHistory(store),
    compute: computeInStore(store),
    onFailure: (_, error) => {
      throw error;
    },
  });

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  describe('a table that rows leave when they are published', () => {
    const stage = useStage(
      Object.values(LEAVING),
      async (observed: AnyTestDatabase) => {
        for (const { id } of Object.values(LEAVING)) await observed.query(`create table ${id} (${COLUMNS[engine]})`);
      },
      engine,
    );
    const insert = (table: string, count: number): Promise<unknown> =>
      stage.observed.query(`insert into ${table} (kind) select 'a' from ${numbers(engine, count)}`);
    const begun = (id: string): Promise<void> => eventually(async () => expect((await stage.total(id)).minutes).toBeGreaterThan(0));

    it('counts what is created from the first minute on, while all of it waits', async () => {
      const snapshots = snapshotsOf(stage);
      // Of the minute in which watching began nothing tells what was created before: begun at its very end, next to all was.
      await eventually(async () => expect(new Date().getSeconds()).toBeLessThan(45));
      stage.collect({ observers: [deletesObserver] });
      await begun('dated');
      await insert('dated', 5_000);
      await eventually(async () => {
        const { summary, series: chart } = await snapshots.outbox('dated', '15m');
        const created = chart.points.reduce((sum, point) => sum + (point.created ?? 0), 0);
        expect(created).toBe(5_000);
        expect(summary.throughput).toMatchObject({ known: 'sampled', since: expect.any(String) as string });
        // Over the time since watching began, or since its minute did: nothing tells when in that minute they were created.
        const minutes = 5_000 / (summary.throughput.createdPerMinute ?? NaN);
        const watched = (Date.parse(summary.asOf) - Date.parse(summary.throughput.since ?? '')) / 60_000;
        expect(minutes).toBeGreaterThan(watched - 0.01);
        expect(minutes).toBeLessThan(watched + 1);
      });
    });

    it('does not take events for created as they leave, where no time tells', async () => {
      const snapshots = snapshotsOf(stage);
      stage.collect({ observers: [deletesObserver] });
      await begun('bare');
      await insert('bare', 5_000);
      let last = 0;
      await eventually(async () => {
        // Those that come and go between two looks, MySQL counts only where it keeps statistics.
        last += 3;
        await stage.observed.query(`delete from bare where id <= ${String(last)}`);
        const { throughput } = await snapshots.summary('bare', '15m');
        expect(throughput.publishedPerMinute).toBeGreaterThan(0);
        expect(throughput).toMatchObject({ createdPerMinute: null, why: 'no_created_at' });
      });
    });
  });

  describe('while the past is still to be read', () => {
    const { outbox, create, publish } = ORDERS[engine];
    const stage = useStage([outbox], create, engine);

    it('no figure is called exact, and no percentile is told', async () => {
      const snapshots = snapshotsOf(stage);
      const beganMs = Date.now();
      for (const ago of [170, 130, 90, 50, 30, 10]) await publish(stage.observed, 40, ago * 60, { latencyMs: 400 });
      // The past is not read while a transaction that is older than the first look may still add to it.
      const writer = engine === 'postgres' ? new pg.Client({ connectionString: stage.observed.url }) : null;
      await writer?.connect();
      await writer?.query('begin');
      await writer?.query('select txid_current()');
      const first = stage.collect({ timing: { ...timingOn(engine), most: 600 } });
      await eventually(async () => {
        const { throughput, latency, retries, errorRate, backfill } = await snapshots.summary('orders', '1h');
        for (const { known, why } of [throughput, latency, retries, errorRate]) {
          expect(['unavailable', 'estimated']).toContain(known);
          if (known === 'unavailable') expect(why).toBe('backfilling');
        }
        expect(latency).toMatchObject({ p50Ms: null, p95Ms: null, p99Ms: null, meanMs: null, why: 'backfilling' });
        expect(backfill?.share).toBe(0);
      });
      expect((await snapshots.outbox('orders', '1h')).series.points.filter(({ gap }) => gap).length).toBeGreaterThan(50);
      await first.stop();
      await writer?.end();
      stage.collect();
      await eventually(async () => {
        const { throughput, latency, backfill } = await snapshots.summary('orders', '1h');
        // Where no server tells of its transactions, the newest minutes are not settled.
        expect(throughput.known).toBe(engine === 'postgres' ? 'exact' : 'estimated');
        expect(throughput.publishedPerMinute).toBeCloseTo(2, 1);
        expect(throughput.since).toBeUndefined();
        expect(latency).toMatchObject({ count: 120, p95Ms: expect.closeTo(400, -1) as number });
        expect(latency.errorShare).toBeLessThan(0.02);
        expect(backfill).toBeNull();
      });
      await eventually(async () => {
        const { throughput, latency, backfill } = await snapshots.summary('orders', '24h');
        expect(backfill).toBeNull();
        // Before the first row there may have been others, purged since.
        const minutes = 171 + (Date.now() - beganMs) / 60_000;
        expect(throughput).toMatchObject({ known: 'estimated', publishedPerMinute: expect.closeTo(240 / minutes, 1) as number });
        expect(Math.abs(Date.parse(throughput.since ?? '') - (beganMs - 170 * 60_000))).toBeLessThan(180_000);
        expect(latency.errorShare).toBeUndefined();
      });
    });
  });
});
