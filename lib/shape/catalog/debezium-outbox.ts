import { sampleId, sampleRows } from './parts/sample-rows';
import { defineShape } from '../shape';

/**
 * The table behind Debezium's outbox event router: a connector reads inserted rows from the database's log. No row is ever
 * read, locked or written by it, so nothing in the table tells what is out.
 */
export const debeziumOutbox = defineShape({
  key: 'debezium-outbox',
  label: 'Debezium outbox event router',
  origin: 'Debezium (Kafka Connect), any producer',
  engines: ['postgres', 'mysql'],
  table: 'outboxevent',
  match: { names: ['outboxevent', 'outbox_event', 'outbox'] },
  kind: 'external',
  columns: {
    id: 'id',
    type: 'type',
    aggregateType: 'aggregatetype',
    aggregateId: 'aggregateid',
    createdAt: { column: 'timestamp', optional: true },
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
    mustHave: ['id', 'aggregatetype', 'aggregateid', 'type', 'payload'],
    mustNotHave: ['status', 'processed_at', 'published_at', 'processed', 'published', 'attempts', 'retry_count', 'times_attempted'],
    caseless: true,
  },
  facts: {
    source: 'debezium/debezium@013581962634',
    verified: 'source',
    warnings: ['backlog_is_in_the_log', 'empty_table_says_nothing'],
  },
  sample: {
    ddl: {
      postgres: [
        `CREATE TABLE outboxevent (
           id uuid PRIMARY KEY, aggregatetype varchar(255) NOT NULL, aggregateid varchar(255) NOT NULL, type varchar(255) NOT NULL,
           payload jsonb, tracingspancontext varchar(256))`,
      ],
      mysql: [
        `CREATE TABLE outboxevent (
           id char(36) PRIMARY KEY, aggregatetype varchar(255) NOT NULL, aggregateid varchar(255) NOT NULL, type varchar(255) NOT NULL,
           payload json, tracingspancontext varchar(256))`,
      ],
    },
    rows: sampleRows({ aggregatetype: 'order', aggregateid: 'order-1', type: 'OrderCreated', payload: { total: 1 } }, [
      ['unmapped', { id: sampleId(1) }],
      ['unmapped', { id: sampleId(2), type: 'OrderPaid' }],
      ['unmapped', { id: sampleId(3), aggregateid: 'order-2', tracingspancontext: 'traceparent=00-1-2-01' }],
      ['unmapped', { id: sampleId(4), aggregatetype: 'customer', aggregateid: 'customer-1', type: 'CustomerMoved' }],
      ['unmapped', { id: sampleId(5), payload: null }],
      ['unmapped', { id: sampleId(6), payload: {} }],
    ]),
  },
});
