/** A collector at work in a test: an outbox of a shape, a store, and time that runs faster. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { defineShape } from '@/lib/shape/shape';
import type { EngineKey } from '@/lib/shared/model';
import { useTestDatabase, type TestDatabase } from '@/scripts/testing/database';
import { useTestDatabaseOf, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { lineOf, sumOf, type LinePoint } from '../../rollups/spans';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import { emptyCell, type Cell } from '@/lib/rollup/cell';
import { sampleTables, shapeCalled, testOutbox, type TestOutbox } from '@/lib/snapshots/testing';
import { createCollector, type Collector, type CollectorOptions } from '../collector';
import { readProgress, type Progress } from '../progress';

/** Ten times as fast as in earnest, and as often as a test likes. */
export const FAST = { settle: 0.5, margin: 0.2, most: 3, lease: 5, recount: 1, duty: 1 };

/** Where no server tells of its transactions, rows are left alone for the longest lag. */
export const timingOn = (engine: EngineKey): typeof FAST => (engine === 'postgres' ? FAST : { ...FAST, most: 1 });

const PUBLISHED_AT = shapeCalled('published-at');
const PUBLISHED_AT_ON_MYSQL = defineShape({
  key: 'inline',
  label: 'orders',
  origin: 'test',
  engines: ['mysql'],
  table: 'outbox_events',
  columns: { id: 'id', type: 'event_type', createdAt: 'created_at', publishedAt: 'published_at', attempts: 'attempt' },
  states: [
    { state: 'published', when: { column: 'published_at', isNull: false } },
    { state: 'pending', when: { column: 'published_at', isNull: true } },
  ],
});

/** The outbox of an order service, on either engine; its id is `orders`. */
export interface Orders {
  outbox: TestOutbox;
  /** As statements name it. */
  table: string;
  create(observed: AnyTestDatabase): Promise<unknown>;
  /** Inserts events that were published so many seconds ago, as one transaction that commits now. */
  publish(observed: AnyTestDatabase, count: number, agoSeconds: number, event?: Partial<Published>): Promise<unknown>;
}

interface Published {
  latencyMs: number;
  /** SQL, for instance of `i`, which counts the events from zero. */
  type: string;
  attempt: number;
}

export const ORDERS: Record<EngineKey, Orders> = {
  postgres: {
    outbox: testOutbox(PUBLISHED_AT, 'orders'),
    table: 'orders.outbox_events',
    create: (observed) => observed.query(sampleTables(PUBLISHED_AT, 'orders').join(';\n')),
    publish: (observed, count, agoSeconds, { latencyMs = 100, type = `'paid'`, attempt = 0 } = {}) =>
      observed.query(
        `insert into orders.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, attempt, created_at, published_at)
         select gen_random_uuid(), 'a', 'a', ${type}, '{}', ${attempt}, t - interval '${latencyMs} ms', t
         from (select i, now() - interval '${agoSeconds} s' as t from generate_series(0, ${count - 1}) as i) as s`,
      ),
  },
  mysql: {
    outbox: testOutbox(PUBLISHED_AT_ON_MYSQL, 'orders', { inline: true, table: 'outbox_events' }),
    table: 'outbox_events',
    create: (observed) =>
      observed.query(
        `create table outbox_events (id char(36) character set ascii primary key default (uuid()), event_type varchar(200) not null, payload text not null,
           attempt smallint not null default 0, created_at datetime(6) not null default current_timestamp(6), published_at datetime(6), key (published_at))`,
      ),
    publish: (observed, count, agoSeconds, { latencyMs = 100, type = `'paid'`, attempt = 0 } = {}) =>
      observed.query(
        `insert into outbox_events (event_type, payload, attempt, created_at, published_at)
         select ${type}, '{}', ${attempt}, t - interval ${latencyMs * 1_000} microsecond, t
         from (select i, utc_timestamp(6) - interval ${agoSeconds} second as t from ${series(count)}) as s`,
      ),
  },
};

/** MySQL's rows with an `i` from zero to below `count`, a million at the most. */
export function series(count: number): string {
  const places = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, Math.max(1, String(count - 1).length));
  const digits = `(select 0 as n union all ${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `select ${digit}`).join(' union all ')})`;
  const number = places.map((place, index) => `${place}.n * ${10 ** index}`).join(' + ');
  return `(select ${number} as i from ${places.map((place) => `${digits} as ${place}`).join(' cross join ')} where ${number} < ${count}) as series`;
}

export interface Stage {
  observed: AnyTestDatabase;
  kept: TestDatabase;
  readonly store: Store;
  readonly directory: OutboxDirectory;
  /** What collectors of this stage complained about. */
  errors: unknown[];
  collect(options?: Partial<CollectorOptions>): Collector;
  /** Everything in the books of an outbox, of all types. */
  total(outbox: string): Promise<Cell>;
  /** All of its series. */
  totals(outbox: string): Promise<Map<string, Cell>>;
  /** Minute by minute, by the minute since the epoch. */
  minutes(outbox: string, from: number, to: number): Promise<Map<number, LinePoint>>;
  progress(outbox: string): Promise<Progress | null>;
}

/** Call once at the top of a test file; `fill` makes the tables. Between tests the books are empty. */
export function useStage(
  outboxes: TestOutbox[],
  fill: (observed: AnyTestDatabase) => Promise<unknown>,
  engine: EngineKey = 'postgres',
): Stage {
  const observed = useTestDatabaseOf(engine);
  const kept = useTestDatabase();
  const opened: { store?: Store; directory?: OutboxDirectory } = {};
  const running: Collector[] = [];
  const errors: unknown[] = [];
  const present = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('The stage exists from beforeAll on.');
    return value;
  };
  beforeAll(async () => {
    await migrateStore(kept.url);
    opened.store = openStore(kept.url);
    await fill(observed);
    const url = engine === 'postgres' ? observed.url : await readerOf(observed);
    opened.directory = createDirectory({ databases: [{ id: 'test', url }], outboxes, readAs: 'collector' });
  }, 120_000);
  afterAll(() => Promise.all([opened.store?.close(), opened.directory?.close()]));
  beforeEach(async () => {
    errors.length = 0;
    await kept.query('truncate rollup, collector_lease, collector_state');
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((collector) => collector.stop()));
  });

  const totals = async (outbox: string): Promise<Map<string, Cell>> => {
    const minute = Math.floor(Date.now() / 60_000);
    return (await sumOf(present(opened.store).db, { outbox, fromMinute: minute - 500 * 1_440, toMinute: minute + 2 })).cells;
  };
  return {
    observed,
    kept,
    get store() {
      return present(opened.store);
    },
    get directory() {
      return present(opened.directory);
    },
    errors,
    collect(options = {}) {
      const collector = createCollector({
        directory: present(opened.directory),
        store: present(opened.store),
        observers: [],
        tickMs: 100,
        retentionDays: 400,
        depthNow: () => Promise.resolve(null),
        onError: (_outbox, error) => errors.push(error),
        timing: timingOn(engine),
        ...options,
      });
      running.push(collector);
      collector.start();
      return collector;
    },
    totals,
    total: async (outbox) => (await totals(outbox)).get(ALL_TYPES) ?? emptyCell(),
    minutes: (outbox, fromMinute, toMinute) =>
      lineOf(present(opened.store).db, { outbox, series: ALL_TYPES, fromMinute, toMinute, stepMinutes: 1 }),
    progress: (outbox) => readProgress(present(opened.store).db, outbox),
  };
}

/** A login that may read its own database and the server's counters, and nothing else. */
async function readerOf(observed: AnyTestDatabase): Promise<string> {
  const name = `c_${observed.name}`;
  await observed.query(`create user ${name}@'%' identified by 'test'`);
  await observed.query(`grant select on ${observed.name}.* to ${name}@'%'`);
  await observed.query(`grant select on performance_schema.table_io_waits_summary_by_table to ${name}@'%'`);
  return observed.urlFor(name, 'test');
}

/** Tries until it holds; what went wrong last after so many milliseconds. */
export async function eventually(check: () => Promise<void> | void, patienceMs = PATIENCE_MS): Promise<void> {
  for (const end = Date.now() + patienceMs; ;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
