import { escrowStatusTable } from '@/demo/schema/escrow-status';
import { errorText, eventRows, isDead, PAYLOAD, PROCESSING_ROWS, WAITING_ROWS, type Filling } from './filling';

/** Random keys, states in one column, and no index but the key: what a table looks like before anybody looks at it. */
export const escrowStatusFilling: Filling = {
  key: 'escrow-status',
  shape: 'escrow-status',
  ddl: escrowStatusTable.ddl,
  table: 'p2p.transaction_outbox',
  load: (rows, endsAt) => [
    `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time, last_attempt_time, retry_count, error_message)
      SELECT gen_random_uuid(), 'k' || i, type, aggregate, status, (${PAYLOAD})::jsonb, created, CASE WHEN status = 'processed' THEN published END,
        CASE WHEN status <> 'pending' OR tried > 0 THEN coalesce(published, created) - interval '20 milliseconds' END, tried, CASE WHEN status = 'failed' OR tried > 0 THEN ${errorText('i')} END
      FROM (SELECT *, CASE WHEN ${isDead(rows)} THEN 'failed' WHEN published IS NOT NULL THEN 'processed' WHEN i <= ${rows} - ${WAITING_ROWS} + ${PROCESSING_ROWS} THEN 'processing' ELSE 'pending' END AS status
        FROM ${eventRows(rows, endsAt)}) AS event`,
  ],
};

/** Indexes advised for such a table: what waits, what died, what is under way, when it was published; and for lists of every state. */
export const ESCROW_ADVISED = {
  ob_pending: `p2p.transaction_outbox (create_time) WHERE status = 'pending'`,
  ob_dead: `p2p.transaction_outbox (create_time, id) WHERE status = 'failed'`,
  ob_processing: `p2p.transaction_outbox (status) WHERE status = 'processing'`,
  ob_published: 'p2p.transaction_outbox (processed_time) WHERE processed_time IS NOT NULL',
  ob_list: 'p2p.transaction_outbox (create_time, id)',
};
