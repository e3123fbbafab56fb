import { insertOne, insertRows, postgresService } from '../database/postgres';
import type { OutboxTable } from './table';

export const COURIER_BUSINESS = 'orders';

/** `outbox` of a service publishing orders to Redis: no published time, no zone, nothing else. */
export const courierStatusTable: OutboxTable = {
  engine: 'postgres',
  ddl: [
    `CREATE TABLE outbox (
       id uuid PRIMARY KEY,
       event_type varchar(255) NOT NULL,
       payload jsonb NOT NULL,
       status varchar(50) NOT NULL DEFAULT 'PENDING',
       created_at timestamp NOT NULL DEFAULT now())`,
    postgresService.businessTable(COURIER_BUSINESS),
  ],
  insert: (client, event, createdAt) =>
    insertOne(
      client,
      `INSERT INTO outbox (id, event_type, payload, created_at)
       VALUES ($1, $2, $3, coalesce($4::timestamptz AT TIME ZONE 'UTC', now() AT TIME ZONE 'UTC')) RETURNING id`,
      [event.id, event.type, JSON.stringify(event.payload), createdAt ?? null],
    ),
  insertPast: (client, events) =>
    insertRows(
      client,
      'outbox',
      { id: 'uuid', event_type: 'text', payload: 'jsonb', status: 'text', created_at: 'timestamp' },
      events.map(({ event, createdAt, state }) => ({
        id: event.id,
        event_type: event.type,
        payload: event.payload,
        status: state === 'published' ? 'PROCESSED' : 'PENDING',
        created_at: createdAt.toISOString().slice(0, -1),
      })),
    ),
};
