import { insertOne, insertRows, postgresService } from '../database/postgres';
import type { OutboxTable } from './table';

export const LISTEN_BUSINESS = 'orders';
/** The channel of the table's own trigger, which its relay listens on. */
export const LISTEN_CHANNEL = 'outbox_events';

const TYPES = {
  id: 'uuid',
  aggregate_type: 'text',
  aggregate_id: 'text',
  event_type: 'text',
  payload: 'jsonb',
  created_at: 'timestamptz',
  processed_at: 'timestamptz',
  retry_count: 'int',
  last_error: 'text',
};

/** `outbox` and its dead-letter table of a service sending to Kafka and by e-mail; an INSERT notifies the id. */
export const listenNotifyTable: OutboxTable = {
  engine: 'postgres',
  ddl: [
    `CREATE TABLE outbox (
       id uuid PRIMARY KEY,
       aggregate_type varchar(100) NOT NULL,
       aggregate_id varchar(100) NOT NULL,
       event_type varchar(100) NOT NULL,
       payload jsonb NOT NULL,
       created_at timestamptz NOT NULL DEFAULT now(),
       processed_at timestamptz,
       retry_count int NOT NULL DEFAULT 0,
       last_error text)`,
    'CREATE INDEX outbox_unprocessed ON outbox (created_at) WHERE processed_at IS NULL',
    'CREATE INDEX outbox_processed ON outbox (processed_at) WHERE processed_at IS NOT NULL',
    'CREATE TABLE outbox_dead (LIKE outbox INCLUDING DEFAULTS, died_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (id))',
    `CREATE FUNCTION notify_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         PERFORM pg_notify('${LISTEN_CHANNEL}', NEW.id::text);
         RETURN NEW;
       END $$`,
    'CREATE TRIGGER outbox_notify AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION notify_outbox()',
    postgresService.businessTable(LISTEN_BUSINESS),
  ],
  insert: (client, event, createdAt) =>
    insertOne(
      client,
      `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, created_at)
       VALUES ($1, $2, $3, $4, $5, coalesce($6, now())) RETURNING id`,
      [event.id, event.aggregateType, event.aggregateId, event.type, JSON.stringify(event.payload), createdAt ?? null],
    ),
  async insertPast(client, events) {
    const row = ({ event, createdAt, state, endedAt, attempts, error }: (typeof events)[number]) => ({
      id: event.id,
      aggregate_type: event.aggregateType,
      aggregate_id: event.aggregateId,
      event_type: event.type,
      payload: event.payload,
      created_at: createdAt,
      processed_at: state === 'published' ? endedAt : null,
      retry_count: attempts,
      last_error: error,
      died_at: endedAt,
    });
    // Nobody is to be woken for what is over.
    await client.query('ALTER TABLE outbox DISABLE TRIGGER outbox_notify');
    await insertRows(client, 'outbox', TYPES, events.filter(({ state }) => state !== 'dead').map(row));
    await client.query('ALTER TABLE outbox ENABLE TRIGGER outbox_notify');
    await insertRows(client, 'outbox_dead', { ...TYPES, died_at: 'timestamptz' }, events.filter(({ state }) => state === 'dead').map(row));
  },
};
