/** Shared by all versions of pg-boss: one partitioned table of jobs with six states. */
import { byWord, defineShape, dueNow, exact, is, names, NOW, byRunning, stable, writes } from '../define';
import type { ShapeInput, WrittenCondition } from '../shape';

const FAILED: WrittenCondition = is('state', 'failed');
const CANCELLED: WrittenCondition = is('state', 'cancelled');

/** The library's retry, but clearing `completed_on`: version 10 leaves it, and the purge of finished jobs then deletes the row. */
const ONE_MORE = writes({ state: 'retry', retry_limit: { column: 'retry_limit', plus: 1 }, completed_on: null, start_after: NOW });

/** Like a new job; with `started_on` NULL the first claim counts no retry. */
const FROM_THE_START = writes({ state: 'created', retry_count: 0, started_on: null, completed_on: null, start_after: NOW, output: null });

/** What `resume` writes to a cancelled job. */
const RESUMED = writes({ state: 'created', completed_on: null });

/** The library purges waiting jobs past this time, perhaps before a worker takes them. */
const NOT_PURGED: WrittenCondition = { column: 'keep_until', future: true };

const bothRun = ['copy_in_dead_letter_queue'];

const pgBoss = {
  engines: ['postgres'],
  family: 'job_queue',
  kind: 'status',
  // The counter rises when a job that failed is taken again; not for the failure it died of.
  attemptsCount: 'failures',
  diesUncounted: true,
  table: 'pgboss.job',
  match: { names: ['job'] },
  columns: {
    // The key of the partitioned table; the id alone would be searched in every queue's partition.
    id: ['name', 'id'],
    type: 'name',
    topic: 'name',
    createdAt: 'created_on',
    publishedAt: { column: 'completed_on', when: is('state', 'completed') },
    attemptedAt: 'started_on',
    availableAt: 'start_after',
    diedAt: { column: 'completed_on', when: { any: [FAILED, CANCELLED] } },
    attempts: 'retry_count',
    maxAttempts: 'retry_limit',
    // For a successful job the column holds its result.
    error: { column: 'output', when: { column: 'state', in: ['failed', 'retry'] } },
    dedupKey: 'singleton_key',
    payload: 'data',
  },
  // Excludes the library's own jobs for its schedules.
  rows: { not: is('name', '__pgboss__send-it') },
  states: byWord('state', {
    failed: 'dead',
    cancelled: 'dead',
    completed: 'published',
    active: 'processing',
    retry: 'retrying',
    created: 'pending',
  }),
  parameters: { stuckAfter: 900 },
  operations: {
    retry: [
      exact('dead', ONE_MORE, { guard: { all: [FAILED, NOT_PURGED] }, warnings: bothRun, basis: 'mirrors_library' }),
      exact('dead', RESUMED, { guard: { all: [CANCELLED, NOT_PURGED] }, basis: 'official' }),
      dueNow('retrying', 'start_after', { basis: 'inferred' }),
      dueNow('pending', 'start_after', { warnings: ['sends_ahead_of_schedule'], basis: 'inferred' }),
    ],
    requeue: [
      exact('dead', FROM_THE_START, { guard: { all: [FAILED, NOT_PURGED] }, warnings: bothRun, basis: 'inferred' }),
      stable('retrying', FROM_THE_START, { basis: 'inferred' }),
    ],
    release: { refuse: 'claim_lapses' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: writes({ state: 'failed', completed_on: NOW }) },
} satisfies Partial<ShapeInput>;

/** Job queue in PostgreSQL for Node, up to version 10: finished jobs move to their own table. */
export const pgBossV10 = defineShape({
  ...pgBoss,
  key: 'pg-boss-v10',
  label: 'pg-boss jobs, up to version 10',
  origin: 'pg-boss 10 (TypeScript)',
  companions: { finished: { table: 'archive', on: { name: 'name', id: 'id' }, purpose: 'archive', optional: true } },
  detect: {
    mustHave: names(`
      id name data state retry_limit retry_count start_after started_on singleton_key expire_in keep_until output
      dead_letter
    `),
    mustNotHave: ['expire_seconds', 'archived_on'],
    signature: ['singleton_key', 'retry_limit'],
    companions: ['archive', 'queue', 'version', 'schedule'],
  },
  facts: byRunning('npm pg-boss@10.4.2', 'dead_letters_twice', 'unique_job_may_refuse', 'rows_purged_by_library'),
});

/** Job queue in PostgreSQL for Node, from version 11: finished jobs stay until they are old enough to delete. */
export const pgBossV12 = defineShape({
  ...pgBoss,
  key: 'pg-boss-v12',
  label: 'pg-boss jobs, from version 11',
  origin: 'pg-boss 11 and 12 (TypeScript)',
  detect: {
    mustHave: names(`
      id name data state retry_limit retry_count start_after started_on singleton_key expire_seconds deletion_seconds
      keep_until output dead_letter
    `),
    mustNotHave: ['expire_in'],
    signature: ['singleton_key', 'retry_limit'],
    companions: ['queue', 'version', 'schedule', 'job_common'],
  },
  facts: byRunning('npm pg-boss@12.18.2', 'dead_letters_twice', 'unique_job_may_refuse', 'rows_purged_by_library', 'skews_counters'),
});
