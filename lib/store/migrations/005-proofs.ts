import { sql, type Kysely, type Migration } from 'kysely';

/** Proofs of mappings, and who turned changes on and off. */
export const proofs: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      // A proof is added and read, never changed.
      sql`create table mapping_proof (
        id uuid primary key,
        outbox text not null,
        at timestamptz not null default now(),
        actor_id text not null,
        actor_name text not null,
        fingerprint text not null,
        outcome text not null check (outcome in ('proven', 'failed', 'incomplete')),
        facts jsonb not null,
        document jsonb not null)`,
      sql`create index mapping_proof_outbox on mapping_proof (outbox, at desc, id desc)`,
      // One row per outbox; what was before stands in the audit.
      sql`create table changes_switch (
        outbox text primary key,
        turned_on boolean not null,
        proof_id uuid references mapping_proof (id),
        at timestamptz not null default now(),
        actor_id text not null,
        actor_name text not null,
        reason text not null)`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
