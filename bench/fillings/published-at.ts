import { publishedAtTable } from '@/demo/schema/published-at';
import { deadRows, eventRows, PAYLOAD, type Filling } from './filling';

const HEADERS = `('{"trace_id":"' || md5(i::text) || '","content_type":"application/json"}')::jsonb`;

/** Keys in the order of time (UUID version 7), dead letters in a table of their own, the indexes the service ships. */
export const publishedAtFilling: Filling = {
  key: 'published-at',
  shape: 'published-at',
  ddl: publishedAtTable.ddl,
  table: 'outbox_events',
  load: (rows, endsAt) => [
    `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at, published_at, attempt)
      SELECT uuidv7(created - clock_timestamp()), 'order', aggregate, type, (${PAYLOAD})::jsonb, ${HEADERS}, 'd' || i, created, published, tried FROM ${eventRows(rows, endsAt)}`,
    `INSERT INTO outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at, attempt, died_at, last_error)
      SELECT uuidv7(created - clock_timestamp()), 'order', aggregate, type, (${PAYLOAD})::jsonb, ${HEADERS}, 'x' || i, created, tried, died, error FROM ${deadRows(endsAt)}`,
  ],
};
