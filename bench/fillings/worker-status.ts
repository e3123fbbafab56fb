import { workerStatusTable } from '@/demo/schema/worker-status';
import { eventRows, PAYLOAD, PROCESSING_ROWS, WAITING_ROWS, type Filling } from './filling';

/** Keys counted up by the table itself, times without a zone, nothing else to find rows by. */
export const workerStatusFilling: Filling = {
  key: 'worker-status',
  shape: 'worker-status',
  ddl: workerStatusTable().ddl,
  table: 'outbox_events',
  load: (rows, endsAt) => [
    `INSERT INTO outbox_events (event_type, payload, created_at, processed_at, status, updated_at)
      SELECT type, ${PAYLOAD}, created AT TIME ZONE 'UTC', published AT TIME ZONE 'UTC',
        CASE WHEN published IS NOT NULL THEN 'PROCESSED' WHEN i <= ${rows} - ${WAITING_ROWS} + ${PROCESSING_ROWS} THEN 'PROCESSING' ELSE 'PENDING' END,
        coalesce(published, created) AT TIME ZONE 'UTC' FROM ${eventRows(rows, endsAt)}`,
  ],
};
