/** Queries on `login_attempt`: counters of sign-in attempts, shared by all replicas. */
import { sql } from 'kysely';
import type { StoreDb } from './store';

export interface AttemptCount {
  key: string;
  attempts: number;
  /** Seconds until the counter's window ends. */
  secondsLeft: number;
}

/**
 * Adds one attempt to each counter and answers where they stand; a counter whose window is over starts anew. One
 * statement, so that parallel guesses are all counted before any of them is checked.
 */
export async function countAttempts(db: StoreDb, keys: readonly string[], windowSeconds: number): Promise<AttemptCount[]> {
  const over = sql<boolean>`login_attempt.window_started_at < now() - make_interval(secs => ${windowSeconds}::float8)`;
  // Sorted: two sign-ins that share counters take their locks in one order.
  const values = [...keys].sort().map((key) => ({ key, attempts: 1 }));
  const rows = await db
    .insertInto('login_attempt')
    .values(values)
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        attempts: sql<number>`case when ${over} then 1 else login_attempt.attempts + 1 end`,
        window_started_at: sql<string>`case when ${over} then now() else login_attempt.window_started_at end`,
      }),
    )
    .returning([
      'key',
      'attempts',
      sql<number>`extract(epoch from window_started_at + make_interval(secs => ${windowSeconds}::float8) - now())::float8`.as(
        'secondsLeft',
      ),
    ])
    .execute();
  return rows;
}

/** Takes back what a successful sign-in had added: its own counters entirely, the shared ones by one. */
export async function forgiveAttempts(db: StoreDb, own: readonly string[], shared: readonly string[]): Promise<void> {
  await db.deleteFrom('login_attempt').where('key', 'in', own).execute();
  if (shared.length === 0) return;
  await db
    .updateTable('login_attempt')
    .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
    .where('key', 'in', shared)
    .where('attempts', '>', 0)
    .execute();
}

/** Removes counters nobody needs any more; by the index on `window_started_at`. */
export async function deleteOldAttempts(db: StoreDb): Promise<void> {
  await db
    .deleteFrom('login_attempt')
    .where('window_started_at', '<', sql<string>`now() - interval '1 day'`)
    .execute();
}
