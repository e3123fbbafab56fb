import { defineShape, names, refused } from '../define';

/** One row per transaction that published through MassTransit: a batch of rows of OutboxMessage, and how far it has been delivered. */
export const masstransitOutboxstate = defineShape({
  key: 'masstransit-outboxstate',
  label: 'MassTransit outbox state',
  origin: 'MassTransit with Entity Framework (C#)',
  engines: ['postgres', 'mysql'],
  table: 'OutboxState',
  match: { names: ['outboxstate', 'outbox_state'] },
  kind: 'timestamp',
  columns: { id: 'OutboxId', sequence: 'LastSequenceNumber', createdAt: 'Created', publishedAt: 'Delivered' },
  states: [
    { state: 'published', when: { column: 'Delivered', isNull: false } },
    { state: 'pending', when: { column: 'Delivered', isNull: true } },
  ],
  // LockId is the token of one transaction, no lease.
  claim: { visible: false },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  noArchive: 'library_cleans_up',
  detect: {
    mustHave: names('OutboxId LockId Created Delivered LastSequenceNumber'),
    signature: ['OutboxId', 'LastSequenceNumber'],
    companions: ['OutboxMessage'],
    caseless: true,
    underscoreless: true,
  },
  facts: { source: 'MassTransit/MassTransit@c1e5caa9', verified: 'source', warnings: ['row_is_a_batch', 'oldest_failing_goes_first'] },
});
