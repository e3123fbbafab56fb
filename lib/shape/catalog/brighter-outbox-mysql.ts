import { defineShape, names } from '../define';
import { BRIGHTER } from './parts/brighter';

/** Brighter's outbox on MySQL, where the row has a time of its own beside the message's. */
export const brighterOutboxMysql = defineShape({
  ...BRIGHTER,
  key: 'brighter-outbox-mysql',
  label: 'Brighter outbox (MySQL)',
  origin: 'Paramore Brighter (C#)',
  engines: ['mysql'],
  table: 'Outbox',
  columns: {
    id: 'MessageId',
    sequence: 'CreatedID',
    type: 'MessageType',
    topic: 'Topic',
    aggregateId: { column: 'PartitionKey', optional: true },
    createdAt: 'Created',
    publishedAt: 'Dispatched',
    dedupKey: 'MessageId',
    traceId: { column: 'TraceParent', optional: true },
    payload: 'Body',
    headers: 'HeaderBag',
  },
  detect: {
    mustHave: names('MessageId Topic MessageType Timestamp HeaderBag Body Dispatched Created CreatedID'),
    signature: ['HeaderBag'],
    caseless: true,
  },
  facts: { source: 'BrighterCommand/Brighter@4032a065', verified: 'source', warnings: ['failing_topic_is_tripped'] },
});
