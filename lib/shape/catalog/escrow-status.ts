import { defineShape } from '../shape';

/** P2P trading and escrow service: polled every second, claimed by a conditional UPDATE, counter rises at the claim. */
export const escrowStatus = defineShape({
  key: 'escrow-status',
  label: 'Escrow status table',
  origin: 'P2P trading and escrow service (NestJS)',
  engines: ['postgres'],
  table: 'p2p.transaction_outbox',
  columns: {
    id: 'id',
    type: 'transaction_type',
    aggregateId: 'transaction_ref_id',
    createdAt: 'create_time',
    publishedAt: 'processed_time',
    attemptedAt: 'last_attempt_time',
    attempts: 'retry_count',
    error: 'error_message',
    dedupKey: 'idempotency_key',
    payload: 'payload',
  },
  states: [
    { state: 'published', when: { column: 'status', equals: 'processed' } },
    { state: 'dead', when: { column: 'status', equals: 'failed' } },
    { state: 'processing', when: { column: 'status', equals: 'processing' } },
    {
      state: 'retrying',
      when: {
        all: [
          { column: 'status', equals: 'pending' },
          { column: 'retry_count', above: 0 },
        ],
      },
    },
    { state: 'pending', when: { column: 'status', equals: 'pending' } },
  ],
  parameters: { maxAttempts: 5, stuckAfter: 300 },
  operations: {
    retry: [
      // The relay takes any pending row and fails it for good at the next failure: the count that stays is the one attempt.
      { from: ['dead'], version: 'exact', set: { status: { value: 'pending' } } },
      { from: ['retrying'], refuse: 'due_within_a_second' },
    ],
    requeue: [
      {
        from: ['dead'],
        version: 'exact',
        set: { status: { value: 'pending' }, retry_count: { value: 0 }, error_message: { value: null } },
      },
      {
        from: ['retrying'],
        version: 'stable',
        set: { status: { value: 'pending' }, retry_count: { value: 0 }, error_message: { value: null } },
      },
    ],
    release: [
      {
        from: ['processing'],
        version: 'exact',
        olderThanStuckAfter: 'last_attempt_time',
        set: { status: { value: 'pending' } },
        warnings: ['may_already_be_out'],
      },
    ],
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: { status: { value: 'failed' } } },
  cautions: { processing: ['may_already_be_out'] },
  proven: 'by_tests',
  detect: {
    mustHave: [
      'idempotency_key',
      'transaction_type',
      'transaction_ref_id',
      'status',
      'payload',
      'create_time',
      'processed_time',
      'last_attempt_time',
      'retry_count',
      'error_message',
    ],
  },
  sample: {
    ddl: {
      postgres: [
        'CREATE SCHEMA IF NOT EXISTS p2p',
        `CREATE TABLE p2p.transaction_outbox (
           id uuid PRIMARY KEY, idempotency_key text NOT NULL, transaction_type text NOT NULL, transaction_ref_id text NOT NULL,
           status text NOT NULL DEFAULT 'pending', payload jsonb NOT NULL, create_time timestamptz NOT NULL DEFAULT now(),
           processed_time timestamptz, last_attempt_time timestamptz, retry_count int NOT NULL DEFAULT 0, error_message text)`,
      ],
    },
    rows: [
      {
        state: 'pending',
        values: {
          id: '00000000-0000-4000-8000-000000000001',
          idempotency_key: 'k1',
          transaction_type: 'order_create',
          transaction_ref_id: 'order-1',
          status: 'pending',
          payload: { amount: '10.00' },
          create_time: '2026-01-01T00:00:01Z',
          retry_count: 0,
        },
      },
      {
        state: 'retrying',
        values: {
          id: '00000000-0000-4000-8000-000000000002',
          idempotency_key: 'k2',
          transaction_type: 'order_complete',
          transaction_ref_id: 'order-1',
          status: 'pending',
          payload: {},
          create_time: '2026-01-01T00:00:02Z',
          last_attempt_time: '2026-01-01T00:00:05Z',
          retry_count: 2,
          error_message: 'node down',
        },
      },
      {
        state: 'processing',
        values: {
          id: '00000000-0000-4000-8000-000000000003',
          idempotency_key: 'k3',
          transaction_type: 'ad_create',
          transaction_ref_id: 'ad-1',
          status: 'processing',
          payload: {},
          create_time: '2026-01-01T00:00:03Z',
          last_attempt_time: '2026-01-01T00:00:06Z',
          retry_count: 1,
        },
      },
      {
        state: 'published',
        values: {
          id: '00000000-0000-4000-8000-000000000004',
          idempotency_key: 'k4',
          transaction_type: 'ad_update',
          transaction_ref_id: 'ad-1',
          status: 'processed',
          payload: {},
          create_time: '2026-01-01T00:00:04Z',
          processed_time: '2026-01-01T00:00:05Z',
          last_attempt_time: '2026-01-01T00:00:04.500Z',
          retry_count: 1,
        },
      },
      {
        state: 'dead',
        values: {
          id: '00000000-0000-4000-8000-000000000005',
          idempotency_key: 'k5',
          transaction_type: 'order_complete',
          transaction_ref_id: 'order-2',
          status: 'failed',
          payload: {},
          create_time: '2026-01-01T00:00:05Z',
          last_attempt_time: '2026-01-01T00:01:00Z',
          retry_count: 5,
          error_message: 'insufficient gas',
        },
      },
      {
        state: 'published',
        values: {
          id: '00000000-0000-4000-8000-000000000006',
          idempotency_key: 'k6',
          transaction_type: 'ad_close',
          transaction_ref_id: 'ad-1',
          status: 'processed',
          payload: {},
          create_time: '2026-01-01T00:00:06Z',
          processed_time: '2026-01-01T00:00:07Z',
          retry_count: 4,
        },
      },
    ],
  },
});
