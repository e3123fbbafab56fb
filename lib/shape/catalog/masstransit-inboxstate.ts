import { above, defineShape, names, refused } from '../define';

/** What MassTransit has received per consumer, kept for a while so that a message delivered twice is consumed once. */
export const masstransitInboxstate = defineShape({
  key: 'masstransit-inboxstate',
  label: 'MassTransit inbox state',
  origin: 'MassTransit with Entity Framework (C#)',
  engines: ['postgres', 'mysql'],
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
  claim: { visible: false },
  operations: refused({ retry: 'broker_redelivers', requeue: 'broker_redelivers', release: 'claim_is_a_lock' }),
  noArchive: 'rows_prevent_duplicates',
  detect: {
    mustHave: names('MessageId ConsumerId LockId Received ReceiveCount Consumed Delivered'),
    companions: ['OutboxMessage'],
    caseless: true,
    underscoreless: true,
  },
  facts: { source: 'MassTransit/MassTransit@c1e5caa9', verified: 'source', warnings: ['rows_prevent_duplicates'] },
});
