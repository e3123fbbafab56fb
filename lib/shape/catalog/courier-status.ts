import { defineShape, is, names, refused } from '../define';

/** Go orders to Redis: status only, no published time; one transaction around the publish of a batch. */
export const courierStatus = defineShape({
  key: 'courier-status',
  label: 'Courier status table',
  origin: 'orders to Redis (Go)',
  engines: ['postgres'],
  table: 'outbox',
  columns: { id: 'id', type: 'event_type', createdAt: 'created_at', payload: 'payload' },
  states: [
    { state: 'published', when: is('status', 'PROCESSED') },
    { state: 'pending', when: is('status', 'PENDING') },
  ],
  parameters: { stuckAfter: 300 },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_attempts', release: 'not_claimed' }),
  // A failed publish rolls back its whole batch: archiving the poison row resolves that.
  archive: { from: ['pending'], warnings: ['may_already_be_out'] },
  cautions: { pending: ['may_already_be_out'] },
  proven: 'by_tests',
  detect: {
    mustHave: names('id event_type payload status created_at'),
    mustNotHave: ['aggregate_id', 'processed_at', 'published_at', 'attempts', 'retry_count', 'topic', 'last_error', 'updated_at'],
  },
});
