import { defineShape } from '../define';

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
});
