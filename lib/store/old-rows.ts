import { sql } from 'kysely';
import { DOCTOR_SAMPLE_DAYS } from './doctor';
import { MARK_DAYS } from './marks';
import type { StoreDb } from './store';
import type { StoreTables } from './tables';

/** Tables whose rows end by themselves: the time that counts, which has an index, and for how many days they are kept after it. */
const KEPT_DAYS: [table: keyof StoreTables, time: string, days: number][] = [
  ['session', 'expires_at', 1],
  ['login_attempt', 'window_started_at', 1],
  ['sign_in_place', 'last_at', 180],
  // Compared as the midnight it begins with.
  ['doctor_sample', 'day', DOCTOR_SAMPLE_DAYS + 1],
  ['mark', 'at', MARK_DAYS],
  // How long somebody may still ask after a try that was never committed.
  ['unsettled_intervention', 'not_applied_at', 90],
];

export async function deleteOldRows(db: StoreDb): Promise<void> {
  await Promise.all(
    KEPT_DAYS.map(([table, time, days]) =>
      sql`delete from ${sql.table(table)} where ${sql.ref(time)} < now() - make_interval(days => ${days}::int)`.execute(db),
    ),
  );
}
