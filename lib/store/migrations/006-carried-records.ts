import { sql, type Kysely, type Migration } from 'kysely';

/** Which records the audit has, by id, and how many lines of each: no clock says that. */
export const carriedRecords: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      sql`create table carried_record (
        id uuid primary key,
        outbox text not null,
        lines integer not null,
        carried_at timestamptz not null default now(),
        grown_at timestamptz)`,
      sql`create index carried_record_outbox on carried_record (outbox)`,
      // What never was committed has an id and no record.
      sql`insert into carried_record (id, outbox, lines, carried_at)
        select intervention_id, min(outbox), count(*), max(recorded_at) from audit_entry
        where intervention_id is not null and code is distinct from 'not_applied' group by intervention_id`,
      sql`drop table carrier_cursor`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
