import { defineShape } from '../define';

const utc = (column: string) => ({ column, time: 'utc' as const });
/** What the library's own `retryEvents` writes. */
const FROM_THE_START = {
  status: { value: 'created' },
  retry_count: { value: 0 },
  next_retry_at: { value: null },
  last_error: { value: null },
};

/** Outbox for Node on PostgreSQL: what is sent moves to a table of its own; `failed` means "will be tried again" below the limit. */
export const outboxEventBusPg = defineShape({
  key: 'outbox-event-bus-pg',
  label: 'outbox-event-bus',
  origin: 'outbox-event-bus (TypeScript)',
  engines: ['postgres'],
  kind: 'status',
  table: 'outbox_events',
  columns: {
    id: 'id',
    type: 'type',
    createdAt: utc('created_on'),
    attemptedAt: utc('started_on'),
    availableAt: utc('next_retry_at'),
    attempts: 'retry_count',
    error: 'last_error',
    payload: 'payload',
  },
  times: { keep_alive: 'utc', occurred_at: 'utc' },
  companions: { sent: { table: 'outbox_events_archive', on: { id: 'id' }, purpose: 'archive', optional: true } },
  states: [
    {
      state: 'dead',
      label: 'failed',
      when: {
        all: [
          { column: 'status', equals: 'failed' },
          { column: 'retry_count', atLeast: { parameter: 'maxAttempts' } },
        ],
      },
    },
    { state: 'retrying', label: 'failed', when: { column: 'status', equals: 'failed' } },
    { state: 'processing', label: 'active', when: { column: 'status', equals: 'active' } },
    { state: 'pending', label: 'created', when: { column: 'status', equals: 'created' } },
    { state: 'published', label: 'completed', when: { column: 'status', equals: 'completed' } },
  ],
  parameters: { maxAttempts: 5, stuckAfter: 300 },
  claim: { visible: true },
  operations: {
    retry: [
      {
        from: ['dead'],
        version: 'exact',
        set: { retry_count: { parameter: 'maxAttempts', minus: 1 }, next_retry_at: { now: true } },
        basis: 'inferred',
      },
      {
        from: ['retrying'],
        version: 'stable',
        guard: { column: 'next_retry_at', future: true },
        set: { next_retry_at: { now: true } },
        basis: 'inferred',
      },
    ],
    requeue: [
      { from: ['dead'], version: 'exact', set: FROM_THE_START, basis: 'official' },
      { from: ['retrying'], version: 'stable', set: FROM_THE_START, basis: 'official' },
    ],
    release: { refuse: 'claim_lapses' },
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { status: { value: 'failed' }, retry_count: { parameter: 'maxAttempts' } } },
  detect: {
    mustHave: [
      'id',
      'type',
      'payload',
      'occurred_at',
      'status',
      'retry_count',
      'next_retry_at',
      'created_on',
      'keep_alive',
      'expire_in_seconds',
    ],
    companions: ['outbox_events_archive'],
  },
  facts: { source: 'dunika/outbox-event-bus@d77ad86b', verified: 'source', warnings: ['rows_move_when_done', 'limit_is_assumed'] },
});
