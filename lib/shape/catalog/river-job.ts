import { type WrittenCondition } from '../shape';
import { defineShape } from '../define';

const FINAL: WrittenCondition = { column: 'state', in: ['cancelled', 'discarded'] };
/** One attempt more than it has had, where it has none left: what the client's own retry writes. */
const ONE_MORE = {
  state: { value: 'available' },
  max_attempts: { greatest: [{ column: 'max_attempts' }, { column: 'attempt', plus: 1 }] },
  finalized_at: { value: null },
  scheduled_at: { now: true as const },
};

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
});
