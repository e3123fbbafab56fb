import { insertOne, insertRows, postgresService } from '../database/postgres';
import type { OutboxTable } from './table';

export const ESCROW_BUSINESS = 'p2p.trade';

/** `p2p.transaction_outbox` of a P2P trading and escrow service: no index but the key. */
export const escrowStatusTable: OutboxTable = {
  engine: 'postgres',
  ddl: [
    'CREATE SCHEMA IF NOT EXISTS p2p',
    `CREATE TABLE p2p.transaction_outbox (
       id uuid PRIMARY KEY,
       idempotency_key text NOT NULL,
       transaction_type text NOT NULL,
       transaction_ref_id text NOT NULL,
       status text NOT NULL DEFAULT 'pending',
       payload jsonb NOT NULL,
       create_time timestamptz NOT NULL DEFAULT now(),
       processed_time timestamptz,
       last_attempt_time timestamptz,
       retry_count int NOT NULL DEFAULT 0,
       error_message text)`,
    postgresService.businessTable(ESCROW_BUSINESS),
  ],
  insert: (client, event, createdAt) =>
    insertOne(
      client,
      `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, payload, create_time)
       VALUES ($1, $2, $3, $4, $5, coalesce($6, now())) RETURNING id`,
      [event.id, event.dedupKey, event.type, event.aggregateId, JSON.stringify(event.payload), createdAt ?? null],
    ),
  insertPast: (client, events) =>
    insertRows(
      client,
      'p2p.transaction_outbox',
      {
        id: 'uuid',
        idempotency_key: 'text',
        transaction_type: 'text',
        transaction_ref_id: 'text',
        status: 'text',
        payload: 'jsonb',
        create_time: 'timestamptz',
        processed_time: 'timestamptz',
        last_attempt_time: 'timestamptz',
        retry_count: 'int',
        error_message: 'text',
      },
      events.map(({ event, createdAt, state, endedAt, attempts, error }) => ({
        id: event.id,
        idempotency_key: event.dedupKey,
        transaction_type: event.type,
        transaction_ref_id: event.aggregateId,
        status: { published: 'processed', dead: 'failed', pending: 'pending' }[state],
        payload: event.payload,
        create_time: createdAt,
        processed_time: state === 'published' ? endedAt : null,
        // The relay claims shortly before it is done.
        last_attempt_time: endedAt === null ? null : new Date(Math.max(createdAt.getTime(), endedAt.getTime() - 120)),
        retry_count: attempts,
        error_message: error,
      })),
    ),
};
