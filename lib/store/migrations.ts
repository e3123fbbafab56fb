/** The store's tables: the changes of each version of the console. */
import { sql, type Migration, type RawBuilder } from 'kysely';

const migration = (...statements: RawBuilder<unknown>[]): Migration => ({
  async up(db) {
    for (const statement of statements) await statement.execute(db);
  },
});

/** In order of their names; a released migration never changes. */
export const MIGRATIONS: Record<string, Migration> = {
  /** Accounts, sessions, tokens, the sign-in limiter, the audit and what the carrier needs. */
  '001-first-tables': migration(
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
  ),
  /** History of the outboxes' figures, who collects it, and the progress. */
  '002-rollups': migration(
    // One row per slice and series; read by series and time, or by time over all series.
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
  ),
  /** Deploys, incidents and notes that charts show. */
  '003-marks': migration(
    // A removed mark is kept until it is old, so that a repeated request does not add it again.
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
  ),
  /** For the doctor: silenced findings, and one sample a day to compare with. */
  '004-doctor': migration(
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
  ),
  /** Proofs of mappings, and who turned changes on or off. */
  '005-proofs': migration(
    // A proof is never changed.
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
    // One row per outbox; earlier states are in the audit.
    sql`create table changes_switch (
      outbox text primary key,
      turned_on boolean not null,
      proof_id uuid references mapping_proof (id),
      at timestamptz not null default now(),
      actor_id text not null,
      actor_name text not null,
      reason text not null)`,
  ),
  /** Which records the audit has, by id, and how many lines of each: times do not show it. */
  '006-carried-records': migration(
    sql`create table carried_record (
      id uuid primary key,
      outbox text not null,
      lines integer not null,
      carried_at timestamptz not null default now(),
      grown_at timestamptz)`,
    sql`create index carried_record_outbox on carried_record (outbox)`,
    // An attempt that was never committed has an id but no record.
    sql`insert into carried_record (id, outbox, lines, carried_at)
      select intervention_id, min(outbox), count(*), max(recorded_at) from audit_entry
      where intervention_id is not null and code is distinct from 'not_applied' group by intervention_id`,
    sql`drop table carrier_cursor`,
  ),
  /** Keeps attempts that were never committed: a client that got `unknown` asks by id or key. */
  '007-not-applied': migration(
    sql`alter table unsettled_intervention add column not_applied_at timestamptz`,
    sql`create index unsettled_intervention_key on unsettled_intervention (outbox, key)`,
  ),
  /** Places people signed in from, tokens that expire, and audit entries without an outbox. */
  '008-doors': migration(
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
  ),
  /** Which outboxes operators have changed, and when first and last. */
  '009-acted': migration(
    sql`create table acted (
      outbox text primary key,
      first_at timestamptz not null,
      last_at timestamptz not null)`,
    sql`insert into acted select outbox, min(at), max(at) from audit_entry
      where at > now() - interval '2 days' and intervention_id is not null and outbox is not null group by outbox`,
  ),
  /** Which entries are of one decision, and the newest records of an outbox. */
  '010-actions': migration(
    // Older entries, and records alone, are found by their intervention.
    sql`alter table audit_entry add column action uuid`,
    sql`create index audit_entry_action on audit_entry ((coalesce(action, intervention_id)), at, id) include (outcome)`,
    sql`create index carried_record_newest on carried_record (outbox, carried_at desc)`,
    sql`drop index carried_record_outbox`,
  ),
  /** From when to when each verdict held. */
  '011-verdicts': migration(
    sql`create table verdict_span (
      outbox text not null,
      verdict text not null,
      began_at timestamptz not null,
      ended_at timestamptz,
      primary key (outbox, verdict, began_at))`,
    sql`create unique index verdict_span_open on verdict_span (outbox, verdict) where ended_at is null`,
    sql`create index verdict_span_ended on verdict_span (ended_at)`,
  ),
  /** Causes of dead events, with what operators wrote about them. */
  '012-causes': migration(
    // Times are of the observed database, as it tells them: not all are of a calendar that we have.
    sql`create table cause (
      outbox text not null,
      fingerprint text not null,
      type text,
      error text,
      first_seen_at text collate "C",
      last_seen_at text collate "C",
      seen text not null check (seen in ('died', 'created')),
      count integer not null,
      known text not null check (known in ('exact', 'capped', 'estimated', 'sampled')),
      retrying integer not null default 0,
      sums jsonb not null,
      summed integer not null,
      samples jsonb not null,
      note text check (length(note) between 1 and 500),
      note_actor_id text,
      note_actor_name text,
      note_at timestamptz,
      primary key (outbox, fingerprint)) with (fillfactor = 70)`,
    sql`create table cause_round (
      outbox text primary key,
      began_at timestamptz not null,
      ended_at timestamptz not null,
      moved_at timestamptz,
      rows integer not null,
      others integer not null,
      known text not null check (known in ('exact', 'estimated', 'sampled')))`,
  ),
  /** Plans, what a second person says of them, and how they are carried out. */
  '013-plans-and-runs': migration(
    // Neither a plan nor its events ever change; what a second person says of it does.
    sql`create table plan (
      id uuid primary key,
      outbox text not null,
      operation text not null,
      reason text not null,
      source jsonb not null,
      actor_id text not null,
      actor_name text not null,
      actor jsonb not null,
      count integer not null,
      hash text not null,
      facts jsonb not null,
      key text not null,
      request_hash text not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      unique (actor_id, key))`,
    sql`create index plan_created on plan (created_at desc, id desc)`,
    sql`create table plan_chunk (
      plan_id uuid not null references plan (id) on delete cascade,
      n integer not null,
      data bytea not null,
      primary key (plan_id, n))`,
    sql`create table approval (
      plan_id uuid primary key references plan (id) on delete cascade,
      hash text not null,
      because jsonb not null,
      state text not null check (state in ('requested', 'approved', 'refused', 'void')),
      requested_at timestamptz not null default now(),
      until timestamptz not null,
      answered_at timestamptz,
      actor_id text,
      actor_name text,
      reason text)`,
    sql`create index approval_open on approval (until) where state = 'requested'`,
    // What an actor changed without a second person: limits count the last hour.
    sql`create table spending (
      id uuid primary key,
      outbox text not null,
      actor_id text not null,
      operation text not null,
      at timestamptz not null default now(),
      count integer not null,
      sums jsonb not null)`,
    sql`create index spending_actor on spending (outbox, actor_id, at)`,
    sql`create index spending_at on spending (at)`,
    sql`create table run (
      id uuid primary key,
      plan_id uuid not null unique references plan (id),
      outbox text not null,
      state text not null check (state in ('queued', 'running', 'paused', 'done', 'cancelled')),
      because text,
      pace jsonb not null,
      progress jsonb not null,
      key text not null,
      request_hash text not null,
      epoch bigint not null default 0,
      created_at timestamptz not null default now(),
      began_at timestamptz,
      ended_at timestamptz,
      followed_until timestamptz,
      updated_at timestamptz not null default now())`,
    sql`create index run_created on run (outbox, created_at desc)`,
    sql`create index run_open on run (outbox, created_at) where ended_at is null or followed_until is not null`,
    // Positions, outcomes and fates are one number per event, in the order of the batch.
    sql`create table run_batch (
      run_id uuid not null references run (id),
      n integer not null,
      positions integer[] not null,
      epoch bigint not null,
      declared_at timestamptz not null default now(),
      answered_at timestamptz,
      intervention_id uuid,
      took_ms integer,
      outcomes bytea,
      fates bytea,
      primary key (run_id, n))`,
    sql`create index run_batch_intervention on run_batch (intervention_id)`,
  ),
};
