import { defineShape, names } from '../define';
import { BRIGHTER } from './parts/brighter';

/** Brighter's outbox on PostgreSQL. Its eight versions have seven columns in common; what else is read is there in later ones. */
export const brighterOutboxPg = defineShape({
  ...BRIGHTER,
  key: 'brighter-outbox-pg',
  label: 'Brighter outbox (PostgreSQL)',
  origin: 'Paramore Brighter (C#)',
  engines: ['postgres'],
  table: 'outbox',
  columns: {
    id: 'messageid',
    sequence: { column: 'id', optional: true },
    type: 'messagetype',
    topic: 'topic',
    aggregateId: { column: 'partitionkey', optional: true },
    createdAt: 'timestamp',
    publishedAt: 'dispatched',
    dedupKey: 'messageid',
    traceId: { column: 'traceparent', optional: true },
    payload: 'body',
    headers: 'headerbag',
  },
  detect: {
    mustHave: names('messageid topic messagetype timestamp headerbag body dispatched'),
    mustNotHave: ['createdid'],
    signature: ['headerbag'],
    caseless: true,
  },
  facts: { source: 'BrighterCommand/Brighter@4032a065', verified: 'source', warnings: ['failing_topic_is_tripped'] },
});
