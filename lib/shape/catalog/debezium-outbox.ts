import { defineShape, names } from '../define';
import { DEBEZIUM, DEBEZIUM_WARNINGS } from './parts/debezium';

/** Behind Debezium's outbox event router: a connector reads inserted rows from the log, so nothing in the table tells what is out. */
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
    caseless: true,
  },
  facts: { source: 'debezium/debezium@013581962634', verified: 'source', warnings: DEBEZIUM_WARNINGS },
});
