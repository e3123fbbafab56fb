/** Shared by Oban's table on both engines; only arrays differ, which MySQL stores as JSON. */
import { above, byWord, defineShape, exact, is, names, NOW, bySource, stable, takenBack, utc, writes, startAgain } from '../define';
import type { ShapeInput } from '../shape';

const DUE = writes({ state: 'available', scheduled_at: NOW, completed_at: null, cancelled_at: null, discarded_at: null });

/** What `retry_all_jobs` writes: if no attempt is left, one more is allowed. */
const ONE_MORE = { ...DUE, max_attempts: { greatest: [{ column: 'max_attempts' }, { column: 'attempt', plus: 1 }] } };

/** If no attempt is left, the library discards the job instead of releasing it. */
const ATTEMPTS_LEFT = { column: 'attempt', below: { column: 'max_attempts' } };

const oban = {
  origin: 'Oban (Elixir)',
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
    ...byWord('state', { discarded: 'dead', cancelled: 'dead', completed: 'published', executing: 'processing', retryable: 'retrying' }),
    // A failed job that is due again is `available`, with its attempts.
    { state: 'retrying', label: 'available', when: { all: [is('state', 'available'), above('attempt', 0)] } },
    ...byWord('state', { available: 'pending', scheduled: 'pending', suspended: 'pending' }),
  ],
  // How long the library's own rescue waits.
  parameters: { stuckAfter: 3600 },
  operations: {
    retry: [
      exact('dead', ONE_MORE, { basis: 'official' }),
      stable('retrying', ONE_MORE, { guard: is('state', 'retryable'), basis: 'official' }),
      stable('pending', ONE_MORE, { guard: is('state', 'scheduled'), warnings: ['sends_ahead_of_schedule'], basis: 'official' }),
    ],
    requeue: startAgain({ ...DUE, attempt: 0 }, { basis: 'inferred' }),
    release: [takenBack('processing', 'attempted_at', { state: 'available' }, { guard: ATTEMPTS_LEFT, basis: 'mirrors_library' })],
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: writes({ state: 'discarded', discarded_at: NOW }) },
  cautions: { processing: ['may_already_be_out'] },
  detect: {
    mustHave: names('id state queue worker args errors attempt max_attempts inserted_at scheduled_at attempted_at discarded_at'),
    signature: ['worker', 'attempted_by', 'discarded_at'],
    companions: ['oban_peers'],
  },
  facts: bySource('oban-bg/oban@2939e313', 'rows_purged_by_library'),
} satisfies Partial<ShapeInput>;

/** Job queue for Elixir on PostgreSQL: seven states in an enum, times without zone in UTC. */
export const obanPg = defineShape({
  ...oban,
  key: 'oban-pg',
  label: 'Oban jobs (PostgreSQL)',
  engines: ['postgres'],
});

/** Job queue for Elixir on MySQL: as on PostgreSQL, with arrays as JSON. */
export const obanMysql = defineShape({
  ...oban,
  key: 'oban-mysql',
  label: 'Oban jobs (MySQL)',
  engines: ['mysql'],
});
