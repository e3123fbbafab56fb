import { listenNotifyTable } from '@/demo/schema/listen-notify';
import { deadRows, errorText, eventRows, PAYLOAD, type Filling } from './filling';

/** Random keys, a partial index for each half of the table, dead letters in a table of their own. */
export const listenNotifyFilling: Filling = {
  key: 'listen-notify',
  shape: 'listen-notify',
  ddl: listenNotifyTable.ddl,
  table: 'outbox',
  load: (rows, endsAt) => [
    'ALTER TABLE outbox DISABLE TRIGGER outbox_notify',
    `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at, retry_count, last_error)
      SELECT gen_random_uuid(), 'order', aggregate, type, (${PAYLOAD})::jsonb, created, published, tried, CASE WHEN tried > 0 THEN ${errorText('i')} END FROM ${eventRows(rows, endsAt)}`,
    'ALTER TABLE outbox ENABLE TRIGGER outbox_notify',
    `INSERT INTO outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, created_at, retry_count, last_error, died_at)
      SELECT gen_random_uuid(), 'order', aggregate, type, (${PAYLOAD})::jsonb, created, tried, error, died FROM ${deadRows(endsAt)}`,
  ],
};
