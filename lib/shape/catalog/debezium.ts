/** Shared by Debezium's outbox tables: a connector reads inserted rows from the log, so no row shows whether it was sent. */
import { defineShape, names, bySource, refused, namedAsRole } from '../define';
import type { ShapeInput } from '../shape';

const DEBEZIUM = {
  engines: ['postgres', 'mysql'],
  kind: 'external',
  columns: {
    ...namedAsRole('id', 'type', 'payload'),
    aggregateType: 'aggregatetype',
    aggregateId: 'aggregateid',
    createdAt: { column: 'timestamp', optional: true },
    traceId: { column: 'tracingspancontext', optional: true },
  },
  states: [],
  parameters: { extra: { slot: { default: '*', unit: 'text', what: 'slot.name of the connector; * for any of the database' } } },
  operations: refused({ retry: 'connector_reads_inserts_only', requeue: 'no_dead_letters', release: 'not_claimed' }),
  noArchive: 'nothing_tells_it_is_out',
} satisfies Partial<ShapeInput>;

const DEBEZIUM_WARNINGS = ['backlog_is_in_the_log', 'empty_table_says_nothing'];

/** The table of Debezium's outbox event router. */
export const debeziumOutbox = defineShape({
  ...DEBEZIUM,
  key: 'debezium-outbox',
  label: 'Debezium outbox event router',
  origin: 'Debezium (Kafka Connect), any producer',
  table: 'outboxevent',
  match: { names: ['outboxevent', 'outbox_event', 'outbox'] },
  detect: {
    mustHave: names('id aggregatetype aggregateid type payload'),
    mustNotHave: ['status', 'processed_at', 'published_at', 'processed', 'published', 'attempts', 'retry_count', 'times_attempted'],
  },
  facts: bySource('debezium/debezium@013581962634', ...DEBEZIUM_WARNINGS),
});

/** Debezium's Quarkus extension: the event router's table with a time; rows are deleted in the transaction that inserts them. */
export const debeziumQuarkusOutbox = defineShape({
  ...DEBEZIUM,
  key: 'debezium-quarkus-outbox',
  label: 'Debezium Quarkus outbox',
  origin: 'Debezium outbox extension for Quarkus (Java)',
  table: 'OutboxEvent',
  match: { names: ['outboxevent', 'outbox_event'] },
  columns: { ...DEBEZIUM.columns, createdAt: 'timestamp' },
  detect: {
    mustHave: names('id aggregatetype aggregateid type timestamp payload'),
    mustNotHave: ['status', 'processed_at', 'published_at', 'processed', 'attempts'],
    underscoreless: true,
  },
  facts: bySource('debezium/debezium-quarkus@3e5c1119', ...DEBEZIUM_WARNINGS),
});
