import { defineShape, names, refused } from '../define';

/**
 * MassTransit's Entity Framework outbox: messages wait here until the row of OutboxState they belong to is delivered, which
 * deletes them. A message has no state of its own; one that cannot be sent holds up those behind it.
 */
export const masstransitOutboxmessage = defineShape({
  key: 'masstransit-outboxmessage',
  label: 'MassTransit outbox messages',
  origin: 'MassTransit with Entity Framework (C#)',
  engines: ['postgres', 'mysql'],
  table: 'OutboxMessage',
  match: { names: ['outboxmessage', 'outbox_message'] },
  kind: 'presence',
  columns: {
    // MessageId has no unique index: only the number names one row.
    id: 'SequenceNumber',
    sequence: 'SequenceNumber',
    type: 'MessageType',
    topic: 'DestinationAddress',
    aggregateId: 'OutboxId',
    orderingKey: 'OutboxId',
    createdAt: 'SentTime',
    availableAt: 'EnqueueTime',
    dedupKey: 'MessageId',
    traceId: 'CorrelationId',
    payload: 'Body',
    headers: 'Headers',
  },
  states: [{ state: 'pending', when: { always: true } }],
  claim: { visible: false },
  ordering: { key: 'orderingKey', by: 'sequence', blockedBy: ['pending'] },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  // Reading goes on past a gap, but never back: a message restored later may be behind what was read.
  archive: { from: ['pending'], warnings: ['relay_may_be_sending', 'batch_may_go_out_again', 'may_stay_unsent_after_restore'] },
  payload: { encoding: 'text' },
  detect: {
    mustHave: names('SequenceNumber MessageId InboxMessageId InboxConsumerId OutboxId DestinationAddress Body'),
    signature: ['InboxConsumerId'],
    companions: ['OutboxState', 'InboxState'],
    caseless: true,
    underscoreless: true,
  },
  facts: { source: 'MassTransit/MassTransit@c1e5caa9', verified: 'source', warnings: ['head_of_line'] },
});
