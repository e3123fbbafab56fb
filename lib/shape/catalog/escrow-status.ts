import { defineShape } from '../define';

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
});
