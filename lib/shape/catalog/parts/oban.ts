/** What Oban's table is on both engines; only arrays differ, which PostgreSQL has and MySQL keeps as JSON. */
import type { WrittenCondition, ShapeInput } from '../../shape';

const utc = (column: string) => ({ column, time: 'utc' as const });

const is = (state: string): WrittenCondition => ({ column: 'state', equals: state });

const DUE = {
  state: { value: 'available' },
  scheduled_at: { now: true as const },
  completed_at: { value: null },
  cancelled_at: { value: null },
  discarded_at: { value: null },
};

/** What `retry_all_jobs` writes: one attempt more than it has had, where it has none left. */
const ONE_MORE = { ...DUE, max_attempts: { greatest: [{ column: 'max_attempts' }, { column: 'attempt', plus: 1 }] } };

const operations: ShapeInput['operations'] = {
  retry: [
    { from: ['dead'], version: 'exact', set: ONE_MORE, basis: 'official' },
    { from: ['retrying'], version: 'stable', guard: is('retryable'), set: ONE_MORE, basis: 'official' },
    {
      from: ['pending'],
      version: 'stable',
      guard: is('scheduled'),
      set: ONE_MORE,
      warnings: ['sends_ahead_of_schedule'],
      basis: 'official',
    },
  ],
  requeue: [
    { from: ['dead'], version: 'exact', set: { ...DUE, attempt: { value: 0 } }, basis: 'inferred' },
    { from: ['retrying'], version: 'stable', set: { ...DUE, attempt: { value: 0 } }, basis: 'inferred' },
  ],
  release: [
    {
      from: ['processing'],
      version: 'exact',
      olderThanStuckAfter: 'attempted_at',
      // With all attempts used, the library discards it instead.
      guard: { column: 'attempt', below: { column: 'max_attempts' } },
      set: { state: { value: 'available' } },
      warnings: ['may_already_be_out'],
      basis: 'mirrors_library',
    },
  ],
};

export const oban = {
  family: 'job_queue',
  kind: 'status',
  table: 'oban_jobs',
  columns: {
    id: 'id',
    type: 'worker',
    topic: 'queue',
    createdAt: utc('inserted_at'),
    publishedAt: utc('completed_at'),
    attemptedAt: utc('attempted_at'),
    lockedBy: { column: 'attempted_by', last: true },
    availableAt: utc('scheduled_at'),
    diedAt: utc('discarded_at'),
    attempts: 'attempt',
    maxAttempts: 'max_attempts',
    error: { column: 'errors', last: true, path: ['error'] },
    payload: 'args',
    headers: 'meta',
  },
  times: { cancelled_at: 'utc' },
  states: [
    { state: 'dead', label: 'discarded', when: is('discarded') },
    { state: 'dead', label: 'cancelled', when: is('cancelled') },
    { state: 'published', label: 'completed', when: is('completed') },
    { state: 'processing', label: 'executing', when: is('executing') },
    { state: 'retrying', label: 'retryable', when: is('retryable') },
    // A job that failed and is due again waits as `available`, with its attempts.
    { state: 'retrying', label: 'available', when: { all: [is('available'), { column: 'attempt', above: 0 }] } },
    { state: 'pending', label: 'available', when: is('available') },
    { state: 'pending', label: 'scheduled', when: is('scheduled') },
    { state: 'pending', label: 'suspended', when: is('suspended') },
  ],
  // What the library's own rescue waits before it frees a job.
  parameters: { stuckAfter: 3600 },
  claim: { visible: true },
  operations,
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { state: { value: 'discarded' }, discarded_at: { now: true } } },
  cautions: { processing: ['may_already_be_out'] },
  detect: {
    mustHave: [
      'id',
      'state',
      'queue',
      'worker',
      'args',
      'errors',
      'attempt',
      'max_attempts',
      'inserted_at',
      'scheduled_at',
      'attempted_at',
      'discarded_at',
    ],
    signature: ['worker', 'attempted_by', 'discarded_at'],
    companions: ['oban_peers'],
  },
} satisfies Partial<ShapeInput>;
