import { sql, type Kysely, type Migration } from 'kysely';

/** What the doctor remembers: findings somebody has silenced, and one examination a day to compare with. */
export const doctor: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      sql`create table doctor_silence (
        outbox text not null,
        finding text not null,
        reason text not null check (length(reason) between 3 and 500),
        actor_id text not null,
        actor_name text not null,
        at timestamptz not null default now(),
        primary key (outbox, finding))`,
      sql`create table doctor_sample (
        outbox text not null,
        day date not null,
        data text not null,
        primary key (outbox, day))`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
