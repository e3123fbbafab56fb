import { sql } from 'kysely';
import { DOCTOR_SAMPLE_DAYS } from './doctor';
import { MARK_DAYS } from './marks';
import type { StoreDb } from './store';
import type { StoreTables } from './tables';

/** Tables whose rows expire, their time column (indexed but for `doctor_sample`, `unsettled_intervention`) and days to keep. */
const KEPT_DAYS: [table: keyof StoreTables, time: string, days: number][] = [
  ['session', 'expires_at', 1],
  ['login_attempt', 'window_started_at', 1],
  ['sign_in_place', 'last_at', 180],
  // A date is compared as the midnight it starts with.
  ['doctor_sample', 'day', DOCTOR_SAMPLE_DAYS + 1],
  ['mark', 'at', MARK_DAYS],
  ['verdict_span', 'ended_at', MARK_DAYS],
  // Limits count the last hour, and what belongs to a run as long as that is not over.
  ['spending', 'at', 400],
  // How long a client may ask about an attempt that was never committed.
  ['unsettled_intervention', 'not_applied_at', 90],
];

/** Days to keep a plan that nobody started, and a run that is over, with its plan. */
const PLAN_DAYS = 30;
const RUN_DAYS = 90;

/** By scans of tables that have a row per decision; the events of a plan go with it. */
async function deleteOldRuns(db: StoreDb): Promise<void> {
  await sql`with old as (select id from run where ended_at < now() - make_interval(days => ${RUN_DAYS}::int)),
      batches as (delete from run_batch where run_id in (select id from old))
    delete from run where id in (select id from old)`.execute(db);
  await sql`delete from plan where created_at < now() - make_interval(days => ${PLAN_DAYS}::int)
    and not exists (select from run where plan_id = plan.id)`.execute(db);
}

export async function deleteOldRows(db: StoreDb): Promise<void> {
  await deleteOldRuns(db);
  await Promise.all(
    KEPT_DAYS.map(([table, time, days]) =>
      sql`delete from ${sql.table(table)} where ${sql.ref(time)} < now() - make_interval(days => ${days}::int)`.execute(db),
    ),
  );
}
