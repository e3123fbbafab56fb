import { sql, type Kysely, type Migration } from 'kysely';

/** Places people signed in from, tokens that end by themselves, and audit entries that are of no outbox. */
export const doors: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      sql`create table sign_in_place (
        account_id uuid not null references account (id) on delete cascade,
        place text not null,
        last_at timestamptz not null default now(),
        primary key (account_id, place))`,
      sql`create index sign_in_place_last on sign_in_place (last_at)`,
      sql`alter table api_token add column expires_at timestamptz`,
      sql`alter table account add column last_sign_in_at timestamptz`,
      sql`alter table audit_entry alter column outbox drop not null`,
      sql`update audit_entry set outbox = null where outbox = ''`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
