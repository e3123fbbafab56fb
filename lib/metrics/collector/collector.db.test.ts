import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { sumOf } from '../rollup/history';
import { countOf } from '../rollup/histogram';
import { ALL_TYPES } from '../rollup/series-key';
import { emptySlot, type Slot } from '../rollup/slot';
import { sampleTables, shapeCalled, testOutbox } from '../testing';
import { createCollector, type Collector, type CollectorOptions } from './collector';

const observed = useTestDatabase();
const kept = useTestDatabase();
let store: Store;
let directory: OutboxDirectory;
const OUTBOX = 'orders';
const running: Collector[] = [];
const errors: unknown[] = [];

beforeAll(async () => {
  await migrateStore(kept.url);
  store = openStore(kept.url);
  await observed.query(sampleTables(shapeCalled('published-at'), OUTBOX).join(';\n'));
  directory = createDirectory({
    databases: [{ id: 'test', url: observed.url }],
    outboxes: [testOutbox(shapeCalled('published-at'), OUTBOX)],
    readAs: 'collector',
  });
});
afterAll(() => Promise.all([store.close(), directory.close()]));
beforeEach(async () => {
  await kept.query('truncate rollup, collector_lease, collector_state');
  await observed.query('truncate orders.outbox_events');
  errors.length = 0;
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((collector) => collector.stop()));
});

function collect(options: Partial<CollectorOptions> = {}): Collector {
  const collector = createCollector({
    directory,
    store,
    observers: [],
    tickMs: 100,
    retentionDays: 400,
    depthNow: () => Promise.resolve(null),
    onError: (_outbox, error) => errors.push(error),
    timing: { settle: 0.5, margin: 0.1, most: 3, lease: 2, duty: 1 },
    ...options,
  });
  running.push(collector);
  collector.start();
  return collector;
}

const publish = (count: number, ago: string, latency = '100 ms', type = 'paid'): Promise<unknown> =>
  observed.query(
    `insert into orders.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at)
     select gen_random_uuid(), 'a', 'a', $1, '{}', now() - $2::interval - $3::interval, now() - $2::interval from generate_series(1, $4::int)`,
    [type, ago, latency, count],
  );

async function books(): Promise<Slot> {
  const minute = Math.floor(Date.now() / 60_000);
  const sum = await sumOf(store.db, { outbox: OUTBOX, fromMinute: minute - 500 * 1_440, toMinute: minute + 2 });
  return sum.slots.get(ALL_TYPES) ?? emptySlot();
}

async function eventually(check: () => Promise<void> | void, patienceMs = 15_000): Promise<void> {
  for (const end = Date.now() + patienceMs; ;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

describe('a collector', () => {
  it('reads the past once, then what is published since, each event once', async () => {
    await publish(50, '3 hours');
    await publish(70, '3 days');
    await publish(5, '0 s');
    const collector = collect();
    await eventually(() =>
      expect(collector.status(OUTBOX)).toMatchObject({ state: 'collecting', method: 'published_index', backfill: null }),
    );
    expect((await books()).published).toBe(125);
    await publish(11, '0 s', '-1 s');
    await eventually(async () => expect((await books()).published).toBe(136));
    const slot = await books();
    expect(countOf(slot.latency)).toBe(136);
    expect(slot.created).toBe(136);
    expect(slot.negative).toBe(11);
    expect(errors).toEqual([]);
  });
});
