/** What the store must forget: ended sessions, old counters of sign-ins, history, marks and tries that came to nothing past their time. Any number of replicas may do it. */
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

/** Cleans up once an hour until stopped; a failure waits for the next hour. */
export function startHousekeeping(options: HousekeepingOptions): { stop(): void } {
  const timer = setInterval(() => void clean(options).catch(options.onError), INTERVAL_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

export async function clean({ store, rollupDays }: Pick<HousekeepingOptions, 'store' | 'rollupDays'>): Promise<void> {
  await Promise.all([deleteOldRows(store.db), forgetHistory(store, rollupDays)]);
}

/** Whole days only, so that a day that is kept is the sum of hours that are kept. */
async function forgetHistory(store: Store, rollupDays: number): Promise<void> {
  const today = Math.floor(Date.now() / 60_000 / DAY_MINUTES);
  for (const tier of ['minute', 'hour', 'day'] as const) await deleteRollupsBefore(store.db, tier, (today - rollupDays) * DAY_MINUTES);
}
