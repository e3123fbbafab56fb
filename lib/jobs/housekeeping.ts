/** What the store must forget: ended sessions, old counters of sign-ins, old marks. Any number of replicas may do it. */
import { deleteOldAttempts } from '@/lib/store/login-attempts';
import { deleteOldMarks } from '@/lib/store/marks';
import { deleteEndedSessions } from '@/lib/store/sessions';
import type { Store } from '@/lib/store/store';

const INTERVAL_MS = 3_600_000;

/** Cleans up once an hour until stopped; a failure waits for the next hour. */
export function startHousekeeping(store: Store, onError: (error: unknown) => void): { stop(): void } {
  const clean = (): void => {
    Promise.all([deleteEndedSessions(store.db), deleteOldAttempts(store.db), deleteOldMarks(store.db)]).catch(onError);
  };
  const timer = setInterval(clean, INTERVAL_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
