import { sql, type Kysely, type Migration } from 'kysely';

/** Accounts, sessions, tokens, the limiter of sign-ins, the audit and what the carrier needs. */
export const firstTables: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      sql`create table account (
        id uuid primary key,
        email text not null unique check (email = lower(email) and length(email) between 3 and 254),
        password_hash text not null,
        role text not null check (role in ('viewer', 'operator', 'approver', 'admin')),
        role_version integer not null default 1,
        created_at timestamptz not null default now(),
        disabled_at timestamptz)`,
      sql`create table session (
        sid uuid primary key,
        account_id uuid not null references account (id) on delete cascade,
        role_version integer not null,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        revoked_at timestamptz)`,
      sql`create index session_account on session (account_id)`,
      sql`create index session_expires on session (expires_at)`,
      sql`create table api_token (
        id uuid primary key,
        name text not null check (length(name) between 1 and 120),
        role text not null check (role in ('viewer', 'operator', 'approver', 'admin')),
        token_hash text not null unique,
        prefix text not null,
        created_at timestamptz not null default now(),
        last_used_at timestamptz,
        revoked_at timestamptz)`,
      sql`create unique index api_token_live_name on api_token (name) where revoked_at is null`,
      sql`create table login_attempt (
        key text primary key,
        attempts integer not null,
        window_started_at timestamptz not null default now())`,
      sql`create index login_attempt_window on login_attempt (window_started_at)`,
      sql`create table audit_entry (
        id uuid primary key,
        at timestamptz not null,
        actor_id text not null,
        actor_name text not null,
        actor_role text not null,
        operation text not null,
        outbox text not null,
        event_id text,
        event_type text,
        aggregate_id text,
        reason text not null,
        outcome text not null check (outcome in ('applied', 'none', 'refused', 'unknown')),
        code text,
        intervention_id uuid,
        before jsonb,
        after jsonb,
        recorded_at timestamptz not null default now())`,
      sql`create index audit_entry_at on audit_entry (at desc, id desc)`,
      sql`create index audit_entry_event on audit_entry (outbox, event_id, at desc)`,
      sql`create index audit_entry_actor on audit_entry (actor_name, at desc)`,
      sql`create index audit_entry_intervention on audit_entry (intervention_id)`,
      sql`create table carrier_cursor (
        outbox text primary key,
        carried_to timestamptz not null)`,
      sql`create table unsettled_intervention (
        id uuid primary key,
        outbox text not null,
        actor jsonb not null,
        key text not null,
        request jsonb not null,
        at timestamptz not null)`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
