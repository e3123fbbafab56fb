import { type WrittenCondition } from '../shape';
import { above, defineShape, exact, names, NOW, byRunning, stable, namedAsRole } from '../define';

/** Locks expire after this time: four hours in the library's own SQL. */
const LOCK_SECONDS = 14_400;

const LOCKED: WrittenCondition = {
  all: [{ column: 'locked_at', isNull: false }, { not: { column: 'locked_at', olderThan: { parameter: 'lock' } } }],
};

/** `reschedule_jobs` skips locked jobs, as the guard does. */
const reschedule = (...attempts: { name: string; value: number }[]) => ({
  call: {
    function: 'graphile_worker.reschedule_jobs',
    arguments: [{ name: 'job_ids', ids: true as const }, { name: 'run_at', now: true as const }, ...attempts],
    writes: ['run_at', 'priority', 'attempts', 'max_attempts', 'updated_at'],
  },
  basis: 'official_sql' as const,
});
const SOON = reschedule();
const FROM_THE_START = reschedule({ name: 'attempts', value: 0 });
/** One attempt left for each row; `reschedule_jobs` sets one count for all jobs. */
const ONE_LEFT = { attempts: { column: 'max_attempts', plus: -1 }, run_at: NOW, updated_at: NOW };
const STANDS_IN = ['newer_job_may_stand_in'];

/** Job queue in PostgreSQL for Node: finished jobs are deleted; attempts are counted at the claim. */
export const graphileWorker = defineShape({
  key: 'graphile-worker',
  label: 'graphile-worker jobs',
  origin: 'graphile-worker from 0.14 (TypeScript)',
  engines: ['postgres'],
  family: 'job_queue',
  kind: 'presence',
  table: 'graphile_worker._private_jobs',
  match: { names: ['_private_jobs'] },
  columns: {
    ...namedAsRole('id', 'createdAt', 'lockedBy', 'attempts', 'maxAttempts', 'payload'),
    type: { join: 'tasks', column: 'identifier' },
    topic: { join: 'queues', column: 'queue_name' },
    attemptedAt: 'locked_at',
    availableAt: 'run_at',
    error: 'last_error',
    dedupKey: 'key',
    version: 'revision',
  },
  companions: {
    tasks: { table: '_private_tasks', on: { id: 'task_id' }, purpose: 'tasks' },
    queues: { table: '_private_job_queues', on: { id: 'job_queue_id' }, purpose: 'tasks', optional: true },
  },
  states: [
    // The lock is tested before the count: the claim counts the attempt, so the last attempt runs with all of them used.
    { state: 'processing', label: 'locked', when: LOCKED },
    { state: 'dead', label: 'permanently failed', when: { column: 'attempts', atLeast: { column: 'max_attempts' } } },
    { state: 'retrying', when: above('attempts', 0) },
    { state: 'pending', when: { always: true } },
  ],
  parameters: {
    stuckAfter: LOCK_SECONDS,
    extra: { lock: { default: LOCK_SECONDS, unit: 's', what: 'How long a worker may hold a job' } },
  },
  operations: {
    retry: [
      exact('dead', ONE_LEFT, { warnings: STANDS_IN, basis: 'mirrors_library' }),
      stable('retrying', {}, SOON),
      stable('pending', {}, { ...SOON, guard: { column: 'run_at', future: true }, warnings: ['sends_ahead_of_schedule'] }),
    ],
    requeue: [exact('dead', {}, { ...FROM_THE_START, warnings: STANDS_IN }), stable('retrying', {}, FROM_THE_START)],
    release: { refuse: 'frees_whole_worker' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { attempts: { column: 'max_attempts' } } },
  detect: {
    mustHave: names('id task_id payload run_at attempts max_attempts last_error locked_at locked_by is_available'),
    signature: ['is_available', 'task_id'],
    companions: ['_private_tasks', '_private_job_queues'],
  },
  facts: byRunning('npm graphile-worker@0.17.3', 'rows_hidden_by_policy', 'rows_go_when_done'),
});
