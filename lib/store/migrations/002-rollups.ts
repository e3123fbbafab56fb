import { sql, type Kysely, type Migration } from 'kysely';

/** History of the outboxes' figures, who collects it, and how far they have come. */
export const rollups: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      // One row per slice of time and series; read by series and time, or by time over all series.
      sql`create table rollup (
        outbox text not null,
        tier text not null check (tier in ('minute', 'hour', 'day', 'ever')),
        series text not null,
        at_minute integer not null,
        data bytea not null,
        provisional boolean not null default false,
        primary key (outbox, tier, series, at_minute)) with (fillfactor = 70)`,
      sql`create index rollup_time on rollup (outbox, tier, at_minute)`,
      sql`create table collector_lease (
        outbox text primary key,
        owner text not null,
        epoch bigint not null,
        expires_at timestamptz not null)`,
      sql`create table collector_state (
        outbox text primary key,
        epoch bigint not null,
        state jsonb not null,
        memory jsonb,
        updated_at timestamptz not null default now())`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
