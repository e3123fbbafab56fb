import { defineShape } from '../define';

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
});
