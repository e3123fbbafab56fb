import { defineShape, names, refused } from '../define';

/** Rebus's outbox on PostgreSQL: the relay deletes rows as it claims them, and they are back when its transaction fails. No row has a time. */
export const rebusOutboxPg = defineShape({
  key: 'rebus-outbox-pg',
  label: 'Rebus outbox (PostgreSQL)',
  origin: 'Rebus.PostgreSql (C#)',
  engines: ['postgres'],
  table: 'outbox',
  kind: 'presence',
  columns: {
    id: 'Id',
    sequence: 'Id',
    topic: 'DestinationAddress',
    dedupKey: 'MessageId',
    traceId: 'CorrelationId',
    payload: 'Body',
    headers: 'Headers',
  },
  // Sent is there and never written.
  states: [{ state: 'pending', when: { always: true } }],
  claim: { visible: false },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  // A row the relay has is locked, so taking one out never meets one that is being sent.
  archive: { from: ['pending'] },
  payload: { encoding: 'bytes' },
  detect: {
    mustHave: names('Id CorrelationId MessageId SourceQueue DestinationAddress Headers Body Sent'),
    signature: ['SourceQueue', 'DestinationAddress'],
    caseless: true,
  },
  facts: { source: 'rebus-org/Rebus.PostgreSql@0cec67c9', verified: 'source', warnings: ['no_time_in_the_row'] },
});
