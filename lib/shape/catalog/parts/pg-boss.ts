/** What all versions of pg-boss share: one partitioned table of jobs with six states. */
import type { WrittenCondition, ShapeInput } from '../../shape';

const FAILED: WrittenCondition = { column: 'state', equals: 'failed' };

const CANCELLED: WrittenCondition = { column: 'state', equals: 'cancelled' };

/**
 * The library's retry writes state and limit. Its tenth version leaves `completed_on` and with it the purge of finished
 * jobs, which takes the row before any worker; later versions clear it and make the job due, and so do we.
 */
const ONE_MORE = {
  state: { value: 'retry' },
  retry_limit: { column: 'retry_limit', plus: 1 },
  completed_on: { value: null },
  start_after: { now: true as const },
};

/** As sent for the first time; without `started_on` the first claim counts no retry. */
const FROM_THE_START = {
  state: { value: 'created' },
  retry_count: { value: 0 },
  started_on: { value: null },
  completed_on: { value: null },
  start_after: { now: true as const },
  output: { value: null },
};

/** What `resume` writes to a cancelled job. */
const RESUMED = { state: { value: 'created' }, completed_on: { value: null } };

/** The library purges waiting jobs past this time before a worker may have seen them. */
const NOT_PURGED: WrittenCondition = { column: 'keep_until', future: true };

const bothRun = ['copy_in_dead_letter_queue'];

const operations: ShapeInput['operations'] = {
  retry: [
    {
      from: ['dead'],
      version: 'exact',
      guard: { all: [FAILED, NOT_PURGED] },
      set: ONE_MORE,
      warnings: bothRun,
      basis: 'mirrors_library',
    },
    { from: ['dead'], version: 'exact', guard: { all: [CANCELLED, NOT_PURGED] }, set: RESUMED, basis: 'official' },
    {
      from: ['retrying'],
      version: 'stable',
      guard: { column: 'start_after', future: true },
      set: { start_after: { now: true } },
      basis: 'inferred',
    },
    {
      from: ['pending'],
      version: 'stable',
      guard: { column: 'start_after', future: true },
      set: { start_after: { now: true } },
      warnings: ['sends_ahead_of_schedule'],
      basis: 'inferred',
    },
  ],
  requeue: [
    {
      from: ['dead'],
      version: 'exact',
      guard: { all: [FAILED, NOT_PURGED] },
      set: FROM_THE_START,
      warnings: bothRun,
      basis: 'inferred',
    },
    {
      from: ['retrying'],
      version: 'stable',
      set: FROM_THE_START,
      basis: 'inferred',
    },
  ],
  release: { refuse: 'claim_lapses' },
};

/** Roles, states and operations of every version; what is left differs by version. */
export const pgBoss = {
  engines: ['postgres'],
  family: 'job_queue',
  kind: 'status',
  table: 'pgboss.job',
  columns: {
    // The key of the partitioned table; the id alone would be looked for in every queue.
    id: ['name', 'id'],
    type: 'name',
    topic: 'name',
    createdAt: 'created_on',
    publishedAt: { column: 'completed_on', when: { column: 'state', equals: 'completed' } },
    attemptedAt: 'started_on',
    availableAt: 'start_after',
    diedAt: { column: 'completed_on', when: { any: [FAILED, CANCELLED] } },
    attempts: 'retry_count',
    maxAttempts: 'retry_limit',
    // The result of a job that went well stands in the same column.
    error: { column: 'output', when: { column: 'state', in: ['failed', 'retry'] } },
    dedupKey: 'singleton_key',
    payload: 'data',
  },
  // The library's own jobs about its schedules.
  rows: { not: { column: 'name', equals: '__pgboss__send-it' } },
  states: [
    { state: 'dead', label: 'failed', when: FAILED },
    { state: 'dead', label: 'cancelled', when: CANCELLED },
    { state: 'published', label: 'completed', when: { column: 'state', equals: 'completed' } },
    { state: 'processing', label: 'active', when: { column: 'state', equals: 'active' } },
    { state: 'retrying', label: 'retry', when: { column: 'state', equals: 'retry' } },
    { state: 'pending', label: 'created', when: { column: 'state', equals: 'created' } },
  ],
  parameters: { stuckAfter: 900 },
  claim: { visible: true },
  operations,
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { state: { value: 'failed' }, completed_on: { now: true } } },
} satisfies Partial<ShapeInput>;
