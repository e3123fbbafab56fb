/** A collector at work in a test: an outbox of a shape, a store, and time that runs faster. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase, type TestDatabase } from '@/scripts/testing/database';
import { lineOf, sumOf, type LinePoint } from '../rollup/history';
import { ALL_TYPES } from '../rollup/series-key';
import { emptySlot, type Slot } from '../rollup/slot';
import type { TestOutbox } from '../testing';
import { createCollector, type Collector, type CollectorOptions } from './collector';
import { readProgress, type Progress } from './progress';

/** Ten times as fast as in earnest, and as often as a test likes. */
export const FAST = { settle: 0.5, margin: 0.2, most: 3, lease: 5, recount: 1, duty: 1 };

export interface Stage {
  observed: TestDatabase;
  kept: TestDatabase;
  readonly store: Store;
  readonly directory: OutboxDirectory;
  /** What collectors of this stage complained about. */
  errors: unknown[];
  collect(options?: Partial<CollectorOptions>): Collector;
  /** Everything in the books of an outbox, of all types. */
  total(outbox: string): Promise<Slot>;
  /** All of its series. */
  totals(outbox: string): Promise<Map<string, Slot>>;
  /** Minute by minute, by the minute since the epoch. */
  minutes(outbox: string, from: number, to: number): Promise<Map<number, LinePoint>>;
  progress(outbox: string): Promise<Progress | null>;
}

/** Call once at the top of a test file; `fill` makes the tables. Between tests the books are empty. */
export function useStage(outboxes: TestOutbox[], fill: (observed: TestDatabase) => Promise<unknown>): Stage {
  const observed = useTestDatabase();
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
    opened.directory = createDirectory({ databases: [{ id: 'test', url: observed.url }], outboxes, readAs: 'collector' });
  }, 120_000);
  afterAll(() => Promise.all([opened.store?.close(), opened.directory?.close()]));
  beforeEach(async () => {
    errors.length = 0;
    await kept.query('truncate rollup, collector_lease, collector_state');
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((collector) => collector.stop()));
  });

  const totals = async (outbox: string): Promise<Map<string, Slot>> => {
    const minute = Math.floor(Date.now() / 60_000);
    return (await sumOf(present(opened.store).db, { outbox, fromMinute: minute - 500 * 1_440, toMinute: minute + 2 })).slots;
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
        timing: FAST,
        ...options,
      });
      running.push(collector);
      collector.start();
      return collector;
    },
    totals,
    total: async (outbox) => (await totals(outbox)).get(ALL_TYPES) ?? emptySlot(),
    minutes: (outbox, fromMinute, toMinute) =>
      lineOf(present(opened.store).db, { outbox, series: ALL_TYPES, fromMinute, toMinute, stepMinutes: 1 }),
    progress: (outbox) => readProgress(present(opened.store).db, outbox),
  };
}

/** Tries until it holds; what went wrong last after so many milliseconds. */
export async function eventually(check: () => Promise<void> | void, patienceMs = 20_000): Promise<void> {
  for (const end = Date.now() + patienceMs; ;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
