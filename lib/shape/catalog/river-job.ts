import { defineShape, type Condition } from '../shape';

const FINAL: Condition = { column: 'state', in: ['cancelled', 'discarded'] };
/** One attempt more than it has had, where it has none left: what the client's own retry writes. */
const ONE_MORE = {
  state: { value: 'available' },
  max_attempts: { greatest: [{ column: 'max_attempts' }, { column: 'attempt', plus: 1 }] },
  finalized_at: { value: null },
  scheduled_at: { now: true as const },
};

const row = (id: number, state: string, values: Record<string, string | number | null> = {}) => ({
  id,
  state,
  attempt: 0,
  max_attempts: 3,
  kind: 'send_receipt',
  queue: 'default',
  args: { order: id },
  created_at: `2026-01-01T00:00:0${id}Z`,
  scheduled_at: `2026-01-01T00:00:0${id}Z`,
  ...values,
});
const error = (attempt: number, text: string): string =>
  JSON.stringify([JSON.stringify({ attempt, error: text })]).replace(/^\[(.*)\]$/s, '{$1}');

/** Job queue in PostgreSQL for Go: seven states in an enumeration, attempts rise at the claim. */
export const riverJob = defineShape({
  key: 'river-job',
  label: 'River jobs',
  origin: 'River (Go)',
  engines: ['postgres'],
  family: 'job_queue',
  kind: 'status',
  table: 'river_job',
  columns: {
    id: 'id',
    type: 'kind',
    topic: 'queue',
    createdAt: 'created_at',
    publishedAt: { column: 'finalized_at', when: { column: 'state', equals: 'completed' } },
    attemptedAt: 'attempted_at',
    lockedBy: { column: 'attempted_by', last: true },
    availableAt: 'scheduled_at',
    diedAt: { column: 'finalized_at', when: FINAL },
    attempts: 'attempt',
    maxAttempts: 'max_attempts',
    error: { column: 'errors', last: true, path: ['error'] },
    payload: 'args',
    headers: 'metadata',
  },
  states: [
    { state: 'published', label: 'completed', when: { column: 'state', equals: 'completed' } },
    { state: 'dead', label: 'discarded', when: { column: 'state', equals: 'discarded' } },
    { state: 'dead', label: 'cancelled', when: { column: 'state', equals: 'cancelled' } },
    { state: 'processing', label: 'running', when: { column: 'state', equals: 'running' } },
    { state: 'retrying', label: 'retryable', when: { column: 'state', equals: 'retryable' } },
    { state: 'pending', label: 'scheduled', when: { column: 'state', equals: 'scheduled' } },
    { state: 'pending', label: 'pending', when: { column: 'state', equals: 'pending' } },
    // A job that failed and is due again waits as `available`, with its attempts.
    {
      state: 'retrying',
      label: 'available',
      when: {
        all: [
          { column: 'state', equals: 'available' },
          { column: 'attempt', above: 0 },
        ],
      },
    },
    { state: 'pending', label: 'available', when: { column: 'state', equals: 'available' } },
  ],
  parameters: { stuckAfter: 3600 },
  claim: { visible: true },
  operations: {
    retry: [
      { from: ['dead'], version: 'exact', set: ONE_MORE, basis: 'official' },
      { from: ['retrying'], version: 'stable', guard: { column: 'state', equals: 'retryable' }, set: ONE_MORE, basis: 'official' },
      {
        from: ['pending'],
        version: 'stable',
        guard: { column: 'state', equals: 'scheduled' },
        set: ONE_MORE,
        warnings: ['sends_ahead_of_schedule'],
        basis: 'official',
      },
    ],
    requeue: [
      {
        from: ['dead'],
        version: 'exact',
        set: { state: { value: 'available' }, attempt: { value: 0 }, finalized_at: { value: null }, scheduled_at: { now: true } },
        basis: 'inferred',
      },
      {
        from: ['retrying'],
        version: 'stable',
        set: { state: { value: 'available' }, attempt: { value: 0 }, scheduled_at: { now: true } },
        basis: 'inferred',
      },
    ],
    release: { refuse: 'claim_lapses' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { state: { value: 'discarded' }, finalized_at: { now: true } } },
  detect: {
    mustHave: ['id', 'state', 'attempt', 'max_attempts', 'attempted_at', 'finalized_at', 'scheduled_at', 'args', 'errors', 'kind', 'queue'],
    signature: ['finalized_at', 'attempted_by', 'kind'],
    types: { state: 'river_job_state' },
    companions: ['river_queue', 'river_leader', 'river_migration'],
  },
  facts: { source: 'riverqueue/river@fdf6cdf1', verified: 'ran', warnings: ['unique_job_may_refuse', 'rows_purged_by_library'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TYPE river_job_state AS ENUM ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled')`,
        `CREATE TABLE river_job (
           id bigserial PRIMARY KEY, state river_job_state NOT NULL DEFAULT 'available', attempt smallint NOT NULL DEFAULT 0,
           max_attempts smallint NOT NULL, attempted_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(), finalized_at timestamptz,
           scheduled_at timestamptz NOT NULL DEFAULT now(), priority smallint NOT NULL DEFAULT 1, args jsonb NOT NULL DEFAULT '{}',
           attempted_by text[], errors jsonb[], kind text NOT NULL, metadata jsonb NOT NULL DEFAULT '{}', queue text NOT NULL DEFAULT 'default',
           tags varchar(255)[] NOT NULL DEFAULT '{}', unique_key bytea, unique_states bit(8),
           CONSTRAINT finalized_or_finalized_at_null CHECK ((finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded'))
             OR (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))),
           CONSTRAINT max_attempts_is_positive CHECK (max_attempts > 0))`,
        'CREATE INDEX ON river_job (state, queue, priority, scheduled_at, id)',
        'CREATE INDEX ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL',
      ],
    },
    rows: [
      { state: 'pending', values: row(1, 'available') },
      { state: 'pending', values: row(2, 'scheduled', { scheduled_at: '2099-01-01T00:00:00Z' }) },
      {
        state: 'retrying',
        values: row(3, 'retryable', { attempt: 1, scheduled_at: '2099-01-01T00:00:00Z', errors: error(1, 'mail server away') }),
      },
      { state: 'retrying', values: row(4, 'available', { attempt: 1, errors: error(1, 'mail server away') }) },
      { state: 'processing', values: row(5, 'running', { attempt: 1, attempted_at: '2026-01-01T00:00:06Z', attempted_by: '{client-1}' }) },
      {
        state: 'published',
        values: row(6, 'completed', { attempt: 1, finalized_at: '2026-01-01T00:00:07Z', attempted_by: '{client-0,client-1}' }),
      },
      {
        state: 'dead',
        values: row(7, 'discarded', { attempt: 3, finalized_at: '2026-01-01T00:01:00Z', errors: error(3, 'no such order') }),
      },
      { state: 'dead', values: row(8, 'cancelled', { finalized_at: '2026-01-01T00:01:01Z' }) },
    ],
  },
});
