import { defineShape, is, names, takenBack, namedAsRole } from '../define';

/** Go order service sending to SQS: no attempts, no error, no dead state; failed rows return to PENDING for ever. */
export const workerStatus = defineShape({
  key: 'worker-status',
  label: 'Worker status table',
  origin: 'order service sending to SQS (Go)',
  engines: ['mysql', 'postgres'],
  table: 'outbox_events',
  columns: {
    ...namedAsRole('id', 'createdAt', 'payload'),
    type: 'event_type',
    publishedAt: 'processed_at',
    // Used by the service's own recovery job, but missing in its published table definition.
    attemptedAt: { column: 'updated_at', optional: true },
  },
  states: [
    { state: 'published', when: is('status', 'PROCESSED') },
    { state: 'processing', when: is('status', 'PROCESSING') },
    { state: 'pending', when: is('status', 'PENDING') },
  ],
  parameters: { stuckAfter: 300 },
  operations: {
    retry: { refuse: 'relay_retries_at_once' },
    requeue: { refuse: 'no_attempts' },
    release: [takenBack('processing', 'updated_at', { status: 'PENDING' })],
  },
  archive: { from: ['pending'], warnings: ['relay_may_be_sending'] },
  cautions: { processing: ['may_already_be_out'] },
  proven: 'by_tests',
  detect: {
    mustHave: names('id event_type payload created_at processed_at status'),
    mustNotHave: ['attempts', 'retry_count', 'aggregate_id', 'topic', 'last_error'],
  },
});
