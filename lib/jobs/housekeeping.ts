/** Deletes expired rows of the store, such as sessions, sign-in counters, history and marks. Any number of replicas may run it. */
import { deleteOldRows } from '@/lib/store/old-rows';
import { deleteRollupsBefore } from '@/lib/store/rollups';
import type { Store } from '@/lib/store/store';

const INTERVAL_MS = 3_600_000;
const DAY_MINUTES = 1_440;

export interface HousekeepingOptions {
  store: Store;
  rollupDays: number;
  onError(error: unknown): void;
}

/** Cleans up every hour until stopped; a failure is retried an hour later. */
export function startHousekeeping(options: HousekeepingOptions): { stop(): void } {
  const timer = setInterval(() => void clean(options).catch(options.onError), INTERVAL_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

export async function clean({ store, rollupDays }: Pick<HousekeepingOptions, 'store' | 'rollupDays'>): Promise<void> {
  await Promise.all([deleteOldRows(store.db), forgetHistory(store, rollupDays)]);
}

/** Deletes whole UTC days, so that a kept day is the sum of kept hours. */
async function forgetHistory(store: Store, rollupDays: number): Promise<void> {
  const today = Math.floor(Date.now() / 60_000 / DAY_MINUTES);
  for (const tier of ['minute', 'hour', 'day'] as const) await deleteRollupsBefore(store.db, tier, (today - rollupDays) * DAY_MINUTES);
}
