/** Shared by Brighter's outbox on both engines: rows are kept, and the dispatch time shows whether one was sent. */
import { defineShape, names, bySource, refused } from '../define';
import type { ShapeInput } from '../shape';

const BRIGHTER = {
  origin: 'Paramore Brighter (C#)',
  kind: 'timestamp',
  states: [
    { state: 'published', label: 'dispatched', when: { column: 'Dispatched', isNull: false } },
    { state: 'pending', label: 'outstanding', when: { column: 'Dispatched', isNull: true } },
  ],
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'not_claimed' }),
  // The sweeper keeps rows in memory while it sends them.
  archive: { from: ['pending'], warnings: ['relay_may_be_sending'] },
  facts: bySource('BrighterCommand/Brighter@4032a065', 'failing_topic_is_tripped'),
} satisfies Partial<ShapeInput>;

/** Brighter's outbox on MySQL, where the row has its own time besides the message's. */
export const brighterOutboxMysql = defineShape({
  ...BRIGHTER,
  key: 'brighter-outbox-mysql',
  label: 'Brighter outbox (MySQL)',
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
  },
});

/** Brighter's outbox on PostgreSQL. Its eight versions have seven columns in common; other columns exist in later ones only. */
export const brighterOutboxPg = defineShape({
  ...BRIGHTER,
  key: 'brighter-outbox-pg',
  label: 'Brighter outbox (PostgreSQL)',
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
  },
});
