import { above, defineShape, exact, is, names, takenBack, writes, namedAsRole, startAgain } from '../define';

/** P2P trading and escrow service: polled every second, claimed by a conditional UPDATE that raises the counter. */
export const escrowStatus = defineShape({
  key: 'escrow-status',
  label: 'Escrow status table',
  origin: 'P2P trading and escrow service (NestJS)',
  engines: ['postgres'],
  table: 'p2p.transaction_outbox',
  columns: {
    ...namedAsRole('id', 'payload'),
    type: 'transaction_type',
    aggregateId: 'transaction_ref_id',
    createdAt: 'create_time',
    publishedAt: 'processed_time',
    attemptedAt: 'last_attempt_time',
    attempts: 'retry_count',
    error: 'error_message',
    dedupKey: 'idempotency_key',
  },
  states: [
    { state: 'published', when: is('status', 'processed') },
    { state: 'dead', when: is('status', 'failed') },
    { state: 'processing', when: is('status', 'processing') },
    { state: 'retrying', when: { all: [is('status', 'pending'), above('retry_count', 0)] } },
    { state: 'pending', when: is('status', 'pending') },
  ],
  parameters: { maxAttempts: 5, stuckAfter: 300 },
  operations: {
    retry: [
      // The relay takes any pending row and marks it failed at its next failure: keeping the count leaves exactly one attempt.
      exact('dead', { status: 'pending' }),
      { from: ['retrying'], refuse: 'due_within_a_second' },
    ],
    requeue: startAgain({ status: 'pending', retry_count: 0, error_message: null }),
    release: [takenBack('processing', 'last_attempt_time', { status: 'pending' })],
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
  asDead: { set: writes({ status: 'failed' }) },
  cautions: { processing: ['may_already_be_out'] },
  proven: 'by_tests',
  detect: {
    mustHave: names(`
      idempotency_key transaction_type transaction_ref_id status payload create_time processed_time last_attempt_time
      retry_count error_message
    `),
  },
});
