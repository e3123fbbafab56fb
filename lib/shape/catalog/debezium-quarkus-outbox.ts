import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/** Debezium's Quarkus extension: the table of the event router with a time, its rows deleted in the transaction that inserts them. */
export const debeziumQuarkusOutbox = defineShape({
  key: 'debezium-quarkus-outbox',
  label: 'Debezium Quarkus outbox',
  origin: 'Debezium outbox extension for Quarkus (Java)',
  engines: ['postgres', 'mysql'],
  table: 'OutboxEvent',
  match: { names: ['outboxevent', 'outbox_event'] },
  kind: 'external',
  columns: {
    id: 'id',
    type: 'type',
    aggregateType: 'aggregatetype',
    aggregateId: 'aggregateid',
    createdAt: 'timestamp',
    traceId: { column: 'tracingspancontext', optional: true },
    payload: 'payload',
  },
  states: [],
  parameters: { extra: { slot: { default: '*', unit: 'text', what: 'slot.name of the connector; * for any of the database' } } },
  operations: {
    retry: { refuse: 'connector_reads_inserts_only' },
    requeue: { refuse: 'no_dead_letters' },
    release: { refuse: 'not_claimed' },
  },
  noArchive: 'nothing_tells_it_is_out',
  detect: {
    mustHave: ['id', 'aggregatetype', 'aggregateid', 'type', 'timestamp', 'payload'],
    mustNotHave: ['status', 'processed_at', 'published_at', 'processed', 'attempts'],
    caseless: true,
    underscoreless: true,
  },
  facts: {
    source: 'debezium/debezium-quarkus@3e5c1119',
    verified: 'source',
    warnings: ['backlog_is_in_the_log', 'empty_table_says_nothing'],
  },
  sample: {
    table: { postgres: 'outboxevent' },
    ddl: {
      postgres: [
        `CREATE TABLE outboxevent (
           id uuid PRIMARY KEY, aggregatetype varchar(255) NOT NULL, aggregateid varchar(255) NOT NULL, type varchar(255) NOT NULL,
           "timestamp" timestamp NOT NULL, payload varchar(8000), tracingspancontext varchar(256))`,
      ],
      mysql: [
        `CREATE TABLE OutboxEvent (
           id char(36) PRIMARY KEY, aggregatetype varchar(255) NOT NULL, aggregateid varchar(255) NOT NULL, type varchar(255) NOT NULL,
           timestamp timestamp(6) NOT NULL, payload varchar(8000), tracingspancontext varchar(256))`,
      ],
    },
    rows: sampleRows({ aggregatetype: 'order', aggregateid: '1', type: 'OrderCreated', payload: '{"total":1}' }, [
      ['unmapped', { id: sampleId(1), timestamp: '2026-01-01 00:00:01' }],
      ['unmapped', { id: sampleId(2), timestamp: '2026-01-01 00:00:02', type: 'OrderPaid' }],
      ['unmapped', { id: sampleId(3), timestamp: '2026-01-01 00:00:03', tracingspancontext: 'traceparent=00-1-2-01' }],
      ['unmapped', { id: sampleId(4), timestamp: '2026-01-01 00:00:04', aggregateid: '9007199254740993' }],
      ['unmapped', { id: sampleId(5), timestamp: '2026-01-01 00:00:05', payload: null }],
      ['unmapped', { id: sampleId(6), timestamp: '2026-01-01 00:00:06', payload: 'not json' }],
    ]),
  },
});
