import { type WrittenCondition } from '../shape';
import { above, byWord, defineShape, exact, is, names, NOW, byRunning, stable, writes, namedAsRole } from '../define';

const FINAL: WrittenCondition = { column: 'state', in: ['cancelled', 'discarded'] };
/** What the client's own retry writes: if no attempt is left, one more is allowed. */
const ONE_MORE = writes({
  state: 'available',
  max_attempts: { greatest: [{ column: 'max_attempts' }, { column: 'attempt', plus: 1 }] },
  finalized_at: null,
  scheduled_at: NOW,
});

/** Job queue in PostgreSQL for Go: seven states in an enum, attempts are counted at the claim. */
export const riverJob = defineShape({
  key: 'river-job',
  label: 'River jobs',
  origin: 'River (Go)',
  engines: ['postgres'],
  family: 'job_queue',
  kind: 'status',
  table: 'river_job',
  columns: {
    ...namedAsRole('id', 'createdAt', 'attemptedAt', 'maxAttempts'),
    type: 'kind',
    topic: 'queue',
    publishedAt: { column: 'finalized_at', when: is('state', 'completed') },
    lockedBy: { column: 'attempted_by', last: true },
    availableAt: 'scheduled_at',
    diedAt: { column: 'finalized_at', when: FINAL },
    attempts: 'attempt',
    error: { column: 'errors', last: true, path: ['error'] },
    payload: 'args',
    headers: 'metadata',
  },
  states: [
    ...byWord('state', { completed: 'published', discarded: 'dead', cancelled: 'dead', running: 'processing' }),
    ...byWord('state', { retryable: 'retrying', scheduled: 'pending', pending: 'pending' }),
    // A failed job that is due again is `available`, with its attempts.
    { state: 'retrying', label: 'available', when: { all: [is('state', 'available'), above('attempt', 0)] } },
    { state: 'pending', label: 'available', when: is('state', 'available') },
  ],
  parameters: { stuckAfter: 3600 },
  operations: {
    retry: [
      exact('dead', ONE_MORE, { basis: 'official' }),
      stable('retrying', ONE_MORE, { guard: is('state', 'retryable'), basis: 'official' }),
      stable('pending', ONE_MORE, { guard: is('state', 'scheduled'), warnings: ['sends_ahead_of_schedule'], basis: 'official' }),
    ],
    requeue: [
      exact('dead', { state: 'available', attempt: 0, finalized_at: null, scheduled_at: NOW }, { basis: 'inferred' }),
      stable('retrying', { state: 'available', attempt: 0, scheduled_at: NOW }, { basis: 'inferred' }),
    ],
    release: { refuse: 'claim_lapses' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: writes({ state: 'discarded', finalized_at: NOW }) },
  detect: {
    mustHave: names('id state attempt max_attempts attempted_at finalized_at scheduled_at args errors kind queue'),
    signature: ['finalized_at', 'attempted_by', 'kind'],
    types: { state: 'river_job_state' },
    companions: ['river_queue', 'river_leader', 'river_migration'],
  },
  facts: byRunning('riverqueue/river@fdf6cdf1', 'unique_job_may_refuse', 'rows_purged_by_library'),
});
