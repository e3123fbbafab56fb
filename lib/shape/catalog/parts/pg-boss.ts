/** What all versions of pg-boss share: one partitioned table of jobs with six states. */
import type { Condition, ShapeInput } from '../../shape';

const FAILED: Condition = { column: 'state', equals: 'failed' };
const CANCELLED: Condition = { column: 'state', equals: 'cancelled' };

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
const NOT_PURGED: Condition = { column: 'keep_until', future: true };

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

const cell = (id: number, name: string, state: string, values: Record<string, string | number | null | Record<string, unknown>> = {}) => ({
  id: `00000000-0000-4000-8000-00000000000${id}`,
  name,
  data: { order: id },
  state,
  created_on: `2026-01-01T00:00:0${id}Z`,
  start_after: `2026-01-01T00:00:0${id}Z`,
  keep_until: '2099-01-01T00:00:00Z',
  ...values,
});

/** One row per state, a job of a later time, a dead letter and its copy, one key with `~` in its queue's name. */
export const pgBossRows: NonNullable<ShapeInput['sample']>['rows'] = [
  { state: 'pending', values: cell(1, 'mail', 'created') },
  { state: 'pending', values: cell(2, 'mail', 'created', { start_after: '2098-01-01T00:00:00Z' }) },
  {
    state: 'retrying',
    values: cell(3, 'mail', 'retry', { retry_count: 1, started_on: '2026-01-01T00:01:00Z', output: { message: 'mail server away' } }),
  },
  { state: 'processing', values: cell(4, 'mail', 'active', { started_on: '2026-01-01T00:01:01Z' }) },
  {
    state: 'published',
    values: cell(5, 'a~b%', 'completed', {
      started_on: '2026-01-01T00:01:02Z',
      completed_on: '2026-01-01T00:01:03Z',
      output: { sent: true },
    }),
  },
  {
    state: 'dead',
    values: cell(6, 'mail', 'failed', {
      retry_count: 2,
      started_on: '2026-01-01T00:01:04Z',
      completed_on: '2026-01-01T00:01:05Z',
      dead_letter: 'a~b%',
      output: { message: 'no such order' },
    }),
  },
  { state: 'pending', values: cell(7, 'a~b%', 'created', { data: { order: 6 }, output: { message: 'no such order' } }) },
  { state: 'dead', values: cell(8, 'mail', 'cancelled', { completed_on: '2026-01-01T00:01:06Z' }) },
];

const STATES = `CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed')`;

/** The tables of a version whose own columns are `columns`, with two queues. */
export function pgBossTables(columns: string): string[] {
  return [
    'CREATE SCHEMA IF NOT EXISTS pgboss',
    STATES,
    `CREATE TABLE pgboss.job (
       id uuid NOT NULL DEFAULT gen_random_uuid(), name text NOT NULL, priority int NOT NULL DEFAULT 0, data jsonb,
       state pgboss.job_state NOT NULL DEFAULT 'created', retry_limit int NOT NULL DEFAULT 2, retry_count int NOT NULL DEFAULT 0,
       retry_delay int NOT NULL DEFAULT 0, retry_backoff boolean NOT NULL DEFAULT false, start_after timestamptz NOT NULL DEFAULT now(),
       started_on timestamptz, singleton_key text, singleton_on timestamp, created_on timestamptz NOT NULL DEFAULT now(),
       completed_on timestamptz, keep_until timestamptz NOT NULL DEFAULT now() + interval '14 days', output jsonb, dead_letter text,
       policy text, ${columns}, PRIMARY KEY (name, id)) PARTITION BY LIST (name)`,
    `CREATE TABLE pgboss.job_mail PARTITION OF pgboss.job FOR VALUES IN ('mail')`,
    `CREATE TABLE pgboss.job_other PARTITION OF pgboss.job DEFAULT`,
    `CREATE INDEX ON pgboss.job_mail (name, start_after) WHERE state < 'active'`,
    `CREATE UNIQUE INDEX ON pgboss.job_mail (name, coalesce(singleton_key, '')) WHERE state = 'created' AND policy = 'short'`,
  ];
}
