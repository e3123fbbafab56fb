import { defineShape, names, bySource, refused } from '../define';

/** Rebus's outbox on PostgreSQL: the relay deletes rows as it claims them; they reappear if its transaction fails. Rows have no time. */
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
  // The column Sent exists but is never written.
  states: [{ state: 'pending', when: { always: true } }],
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  // The relay locks the rows it is sending, so that none of them is archived.
  archive: { from: ['pending'] },
  payload: { encoding: 'bytes' },
  detect: {
    mustHave: names('Id CorrelationId MessageId SourceQueue DestinationAddress Headers Body Sent'),
    signature: ['SourceQueue', 'DestinationAddress'],
  },
  facts: bySource('rebus-org/Rebus.PostgreSql@0cec67c9', 'no_time_in_the_row'),
});
