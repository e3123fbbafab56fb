import { sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';
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
    mustHave: ['messageid', 'topic', 'messagetype', 'timestamp', 'headerbag', 'body', 'dispatched'],
    mustNotHave: ['createdid'],
    signature: ['headerbag'],
    caseless: true,
  },
  facts: { source: 'BrighterCommand/Brighter@4032a065', verified: 'source', warnings: ['failing_topic_is_tripped'] },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE outbox (
           id bigserial PRIMARY KEY, messageid varchar(255) UNIQUE NOT NULL, topic varchar(255), messagetype varchar(32),
           "timestamp" timestamptz, correlationid varchar(255), replyto varchar(255), contenttype varchar(128), partitionkey varchar(128),
           dispatched timestamptz, headerbag text, body text, traceparent varchar(255))`,
      ],
    },
    rows: sampleRows({ topic: 'orders', messagetype: 'MT_EVENT', headerbag: '{"tenant":"a"}', body: '{"orderId":1}' }, [
      ['pending', { messageid: 'm-1', timestamp: '2026-01-01 00:00:01', partitionkey: 'order-1' }],
      ['pending', { messageid: 'm-2', timestamp: '2026-01-01 00:00:02', messagetype: 'MT_COMMAND', topic: null }],
      ['pending', { messageid: 'm-3', timestamp: null, headerbag: null, body: 'not json' }],
      ['published', { messageid: 'm-4', timestamp: '2026-01-01 00:00:04', dispatched: '2026-01-01 00:00:05' }],
      ['published', { messageid: 'm-5', timestamp: '2026-01-01 00:00:05', dispatched: '2026-01-01 00:00:09' }],
      ['published', { messageid: 'urn:uuid:6~1', timestamp: '2026-01-01 00:00:06', dispatched: '2026-01-01 01:00:00' }],
    ]),
  },
});
