import { insertOne, insertRows, postgresService } from '../database/postgres';
import type { OutboxTable } from './table';

export const PUBLISHED_AT_BUSINESS = 'orders';

const COLUMNS = `
  id uuid PRIMARY KEY,
  aggregate_type text NOT NULL,
  aggregate_id text NOT NULL,
  event_type text NOT NULL,
  payload jsonb NOT NULL,
  headers jsonb,
  dedup_key text UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz,
  attempt smallint NOT NULL DEFAULT 0`;

const TYPES = {
  id: 'uuid',
  aggregate_type: 'text',
  aggregate_id: 'text',
  event_type: 'text',
  payload: 'jsonb',
  headers: 'jsonb',
  dedup_key: 'text',
  created_at: 'timestamptz',
  published_at: 'timestamptz',
  attempt: 'smallint',
};

/** `outbox_events` and `outbox_dead` of an order service publishing to Kafka. */
export const publishedAtTable: OutboxTable = {
  engine: 'postgres',
  ddl: [
    `CREATE TABLE outbox_events (${COLUMNS})`,
    'CREATE INDEX outbox_events_published_at ON outbox_events (published_at NULLS FIRST, created_at)',
    'CREATE INDEX outbox_events_aggregate ON outbox_events (aggregate_type, aggregate_id)',
    `CREATE TABLE outbox_dead (${COLUMNS}, died_at timestamptz NOT NULL DEFAULT now(), last_error text)`,
    postgresService.businessTable(PUBLISHED_AT_BUSINESS),
  ],
  insert: (client, event, createdAt) =>
    insertOne(
      client,
      `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8, now())) RETURNING id`,
      [
        event.id,
        event.aggregateType,
        event.aggregateId,
        event.type,
        JSON.stringify(event.payload),
        JSON.stringify(headers(event.traceId)),
        event.dedupKey,
        createdAt ?? null,
      ],
    ),
  async insertPast(client, events) {
    const row = ({ event, createdAt, state, endedAt, attempts, error }: (typeof events)[number]) => ({
      id: event.id,
      aggregate_type: event.aggregateType,
      aggregate_id: event.aggregateId,
      event_type: event.type,
      payload: event.payload,
      headers: headers(event.traceId),
      dedup_key: event.dedupKey,
      created_at: createdAt,
      published_at: state === 'published' ? endedAt : null,
      attempt: attempts,
      died_at: endedAt,
      last_error: error,
    });
    await insertRows(client, 'outbox_events', TYPES, events.filter(({ state }) => state !== 'dead').map(row));
    await insertRows(
      client,
      'outbox_dead',
      { ...TYPES, died_at: 'timestamptz', last_error: 'text' },
      events.filter(({ state }) => state === 'dead').map(row),
    );
  },
};

function headers(traceId: string): Record<string, string> {
  return { trace_id: traceId, content_type: 'application/json' };
}
