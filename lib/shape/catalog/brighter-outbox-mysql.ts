import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
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
    mustHave: ['MessageId', 'Topic', 'MessageType', 'Timestamp', 'HeaderBag', 'Body', 'Dispatched', 'Created', 'CreatedID'],
    signature: ['HeaderBag'],
    caseless: true,
  },
  facts: { source: 'BrighterCommand/Brighter@4032a065', verified: 'source', warnings: ['failing_topic_is_tripped'] },
  sample: {
    ddl: {
      mysql: [
        `CREATE TABLE Outbox (
           MessageId varchar(255) PRIMARY KEY, Topic varchar(255) NOT NULL, MessageType varchar(32) NOT NULL, Timestamp timestamp(3) NOT NULL,
           CorrelationId varchar(255), PartitionKey varchar(128), Dispatched timestamp(3) NULL, HeaderBag text NOT NULL, Body text NOT NULL,
           Created timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), CreatedID int NOT NULL AUTO_INCREMENT UNIQUE, TraceParent varchar(255))`,
      ],
    },
    rows: sampleRows({ Topic: 'orders', MessageType: 'MT_EVENT', HeaderBag: '{"tenant":"a"}', Body: '{"orderId":1}' }, [
      ['pending', { MessageId: 'm-1', Timestamp: '2026-01-01 00:00:01', Created: '2026-01-01 00:00:01', PartitionKey: 'order-1' }],
      ['pending', { MessageId: 'm-2', Timestamp: '2026-01-01 00:00:02', Created: '2026-01-01 00:00:02', MessageType: 'MT_COMMAND' }],
      ['pending', { MessageId: 'm-3', Timestamp: '2026-01-01 00:00:03', Created: '2026-01-01 00:00:03', Body: 'not json' }],
      [
        'published',
        { MessageId: 'm-4', Timestamp: '2026-01-01 00:00:04', Created: '2026-01-01 00:00:04', Dispatched: '2026-01-01 00:00:05.250' },
      ],
      [
        'published',
        { MessageId: 'm-5', Timestamp: '2026-01-01 00:00:05', Created: '2026-01-01 00:00:05', Dispatched: '2026-01-01 00:00:09' },
      ],
      [
        'published',
        { MessageId: 'M-5x', Timestamp: '2026-01-01 00:00:06', Created: '2026-01-01 00:00:06', Dispatched: '2026-01-01 01:00:00' },
      ],
    ]),
  },
});
