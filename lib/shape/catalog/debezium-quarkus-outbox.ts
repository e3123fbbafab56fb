import { defineShape, names } from '../define';
import { DEBEZIUM, DEBEZIUM_WARNINGS } from './parts/debezium';

/** Debezium's Quarkus extension: the table of the event router with a time, its rows deleted in the transaction that inserts them. */
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
    caseless: true,
    underscoreless: true,
  },
  facts: { source: 'debezium/debezium-quarkus@3e5c1119', verified: 'source', warnings: DEBEZIUM_WARNINGS },
});
