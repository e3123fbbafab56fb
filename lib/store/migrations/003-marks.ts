import { sql, type Kysely, type Migration } from 'kysely';

/** Deploys, incidents and notes that charts show. */
export const marks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      // A mark that was taken off stays until it is old, so that a repeated request does not bring it back.
      sql`create table mark (
        id uuid primary key,
        at timestamptz not null,
        kind text not null check (kind in ('deploy', 'incident', 'note')),
        text text not null check (length(text) between 1 and 200),
        outbox text,
        url text,
        actor_id text not null,
        actor_name text not null,
        idempotency_key text,
        request_hash text not null,
        created_at timestamptz not null default now(),
        removed_at timestamptz,
        unique (actor_id, idempotency_key))`,
      sql`create index mark_at on mark (at desc, id desc)`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
