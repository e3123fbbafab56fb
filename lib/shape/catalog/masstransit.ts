import { above, defineShape, names, bySource, refused } from '../define';
import type { ShapeInput } from '../shape';

const MASSTRANSIT = { origin: 'MassTransit with Entity Framework (C#)', engines: ['postgres', 'mysql'] } satisfies Partial<ShapeInput>;

/** Messages wait here until their OutboxState row is delivered, which deletes them. */
export const masstransitOutboxmessage = defineShape({
  ...MASSTRANSIT,
  key: 'masstransit-outboxmessage',
  label: 'MassTransit outbox messages',
  table: 'OutboxMessage',
  match: { names: ['outboxmessage', 'outbox_message'] },
  kind: 'presence',
  columns: {
    // MessageId has no unique index: only the number identifies a row.
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
  // A message has no state of its own; one that cannot be sent blocks those behind it.
  states: [{ state: 'pending', when: { always: true } }],
  ordering: { key: 'orderingKey', by: 'sequence', blockedBy: ['pending'] },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  // The relay skips gaps but never goes back: a message restored later may be behind its position.
  archive: { from: ['pending'], warnings: ['relay_may_be_sending', 'batch_may_go_out_again', 'may_stay_unsent_after_restore'] },
  payload: { encoding: 'text' },
  detect: {
    mustHave: names('SequenceNumber MessageId InboxMessageId InboxConsumerId OutboxId DestinationAddress Body'),
    signature: ['InboxConsumerId'],
    companions: ['OutboxState', 'InboxState'],
    underscoreless: true,
  },
  facts: bySource('MassTransit/MassTransit@c1e5caa9', 'head_of_line'),
});

/** One row per transaction that published through MassTransit: a batch of OutboxMessage rows, and how much of it is delivered. */
export const masstransitOutboxstate = defineShape({
  ...MASSTRANSIT,
  key: 'masstransit-outboxstate',
  label: 'MassTransit outbox state',
  table: 'OutboxState',
  match: { names: ['outboxstate', 'outbox_state'] },
  kind: 'timestamp',
  columns: { id: 'OutboxId', sequence: 'LastSequenceNumber', createdAt: 'Created', publishedAt: 'Delivered' },
  states: [
    { state: 'published', when: { column: 'Delivered', isNull: false } },
    { state: 'pending', when: { column: 'Delivered', isNull: true } },
  ],
  // LockId identifies one transaction; it is no lease.
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  noArchive: 'library_cleans_up',
  detect: {
    mustHave: names('OutboxId LockId Created Delivered LastSequenceNumber'),
    signature: ['OutboxId', 'LastSequenceNumber'],
    companions: ['OutboxMessage'],
    underscoreless: true,
  },
  facts: bySource('MassTransit/MassTransit@c1e5caa9', 'row_is_a_batch', 'oldest_failing_goes_first'),
});

/** Messages MassTransit has received, per consumer; kept for a while so that a message delivered twice is consumed once. */
export const masstransitInboxstate = defineShape({
  ...MASSTRANSIT,
  key: 'masstransit-inboxstate',
  label: 'MassTransit inbox state',
  table: 'InboxState',
  match: { names: ['inboxstate', 'inbox_state'] },
  family: 'inbox',
  kind: 'timestamp',
  columns: {
    id: 'Id',
    topic: 'ConsumerId',
    sequence: 'LastSequenceNumber',
    createdAt: 'Received',
    publishedAt: 'Delivered',
    attemptedAt: 'Consumed',
    attempts: 'ReceiveCount',
    dedupKey: 'MessageId',
  },
  states: [
    { state: 'published', label: 'delivered', when: { column: 'Delivered', isNull: false } },
    { state: 'processing', label: 'consumed', when: { column: 'Consumed', isNull: false } },
    { state: 'retrying', when: above('ReceiveCount', 1) },
    { state: 'pending', label: 'received', when: { always: true } },
  ],
  operations: refused({ retry: 'broker_redelivers', requeue: 'broker_redelivers', release: 'claim_is_a_lock' }),
  noArchive: 'rows_prevent_duplicates',
  detect: {
    mustHave: names('MessageId ConsumerId LockId Received ReceiveCount Consumed Delivered'),
    companions: ['OutboxMessage'],
    underscoreless: true,
  },
  facts: bySource('MassTransit/MassTransit@c1e5caa9', 'rows_prevent_duplicates'),
});
