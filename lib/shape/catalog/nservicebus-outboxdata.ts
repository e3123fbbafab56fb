import { defineShape, names, bySource, refused } from '../define';

/** NServiceBus's outbox: one row per incoming message with everything its handlers sent. */
export const nservicebusOutboxdata = defineShape({
  key: 'nservicebus-outboxdata',
  label: 'NServiceBus outbox',
  origin: 'NServiceBus SQL persistence (C#)',
  engines: ['postgres', 'mysql'],
  table: 'OutboxData',
  match: { pattern: '^(?<endpoint>.*?)_?[Oo]utbox_?[Dd]ata$' },
  kind: 'flag',
  columns: {
    id: 'MessageId',
    topic: { captured: 'endpoint' },
    publishedAt: { column: 'DispatchedAt', time: 'utc' },
    payload: 'Operations',
  },
  states: [
    { state: 'published', label: 'dispatched', when: { column: 'Dispatched', isTrue: true } },
    // With pessimistic concurrency the row exists before the handlers run.
    { state: 'processing', label: 'placeholder', when: { column: 'Operations', isEmpty: true } },
    { state: 'pending', when: { column: 'Dispatched', isTrue: false } },
  ],
  // Nothing polls: undispatched rows go out when the broker redelivers the incoming message.
  operations: refused({ retry: 'broker_redelivers', requeue: 'broker_redelivers', release: 'broker_redelivers' }),
  noArchive: 'rows_prevent_duplicates',
  payload: { encoding: 'json', warn: 'many_messages' },
  detect: {
    mustHave: names('MessageId Dispatched DispatchedAt PersistenceVersion Operations'),
    signature: ['PersistenceVersion', 'Operations', 'DispatchedAt'],
  },
  facts: bySource('Particular/NServiceBus.Persistence.Sql@d1ecdeda', 'many_messages', 'payload_is_wiped', 'rows_prevent_duplicates'),
});
