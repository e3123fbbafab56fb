import { sql, type Kysely, type Migration } from 'kysely';

/** A try that was never committed is remembered: whoever was told `unknown` asks after it by id or key. */
export const notApplied: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table unsettled_intervention add column not_applied_at timestamptz`.execute(db);
    await sql`create index unsettled_intervention_key on unsettled_intervention (outbox, key)`.execute(db);
  },
};
