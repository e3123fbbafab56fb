/** The databases of the fleet: ten tables in each, of five layouts, each kept busy by one function that stands for its service and relay. */
import pg from 'pg';
import { sampleTables, shapeCalled } from '@/fixtures/outboxes';
import type { BenchServer } from '../support/server';

export const TABLES_PER_DATABASE = 10;

interface Layout {
  shape: string;
  table: string;
  /** A row that was created so many seconds ago, by SQL expressions. */
  insert(ageSeconds: string): string;
  /** Publishes what waits for longer than two seconds. */
  publish: string;
}

const TYPE = `'type.' || (random() * 8)::int`;
const PAYLOAD = `'{"orderId":"order-1","amount":"10.50"}'`;
const ago = (seconds: string): string => `now() - (${seconds}) * interval '1 second'`;

const LAYOUTS: readonly Layout[] = [
  {
    shape: 'published-at',
    table: 'outbox_events',
    insert: (age) => `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at)
      SELECT gen_random_uuid(), 'order', 'order-' || i % 50, ${TYPE}, ${PAYLOAD}, ${ago(age)}`,
    publish: `UPDATE outbox_events SET published_at = greatest(clock_timestamp() - interval '1 hour', created_at + interval '200 ms') WHERE published_at IS NULL`,
  },
  {
    shape: 'listen-notify',
    table: 'outbox',
    insert: (age) => `INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, created_at)
      SELECT gen_random_uuid(), 'order', 'order-' || i % 50, ${TYPE}, ${PAYLOAD}, ${ago(age)}`,
    publish: `UPDATE outbox SET processed_at = created_at + interval '200 ms' WHERE processed_at IS NULL`,
  },
  {
    shape: 'escrow-status',
    table: 'transaction_outbox',
    insert: (age) => `INSERT INTO transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, payload, create_time)
      SELECT gen_random_uuid(), 'k' || i, ${TYPE}, 'order-' || i % 50, ${PAYLOAD}, ${ago(age)}`,
    publish: `UPDATE transaction_outbox SET status = 'processed', retry_count = 1, processed_time = create_time + interval '200 ms' WHERE status = 'pending'`,
  },
  {
    shape: 'worker-status',
    table: 'outbox_events',
    insert: (age) =>
      `INSERT INTO outbox_events (event_type, payload, created_at) SELECT ${TYPE}, ${PAYLOAD}, (${ago(age)}) AT TIME ZONE 'UTC'`,
    publish: `UPDATE outbox_events SET status = 'PROCESSED', processed_at = created_at + interval '200 ms' WHERE status = 'PENDING'`,
  },
  {
    shape: 'courier-status',
    table: 'outbox',
    insert: (age) =>
      `INSERT INTO outbox (id, event_type, payload, created_at) SELECT gen_random_uuid(), ${TYPE}, ${PAYLOAD}, (${ago(age)}) AT TIME ZONE 'UTC'`,
    publish: `UPDATE outbox SET status = 'PROCESSED' WHERE status = 'PENDING'`,
  },
];

/** The last table of each database has a relay that stopped ten minutes before. */
export const stopped = (at: number): boolean => at === TABLES_PER_DATABASE - 1;

export interface FleetTable {
  schema: string;
  shape: string;
  table: string;
}

/** The tables that each database has. */
export const FLEET_TABLES: readonly FleetTable[] = Array.from({ length: TABLES_PER_DATABASE }, (_, at) => {
  const { shape, table } = layoutOf(at);
  return { schema: `service_${String(at)}`, shape, table };
});

function layoutOf(at: number): Layout {
  // The relay that stopped is one whose table says when it published: its verdict then needs no watching.
  const layout = LAYOUTS[stopped(at) ? 0 : at % LAYOUTS.length];
  if (layout === undefined) throw new Error('There are layouts');
  return layout;
}

/** Makes and fills the tables of a database: `rows` events each, of the last two hours. */
export async function fillDatabase(server: BenchServer, database: string, rows: number): Promise<void> {
  const client = new pg.Client({ connectionString: server.superuserUrl(database), application_name: 'bench' });
  await client.connect();
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const moves: string[] = [];
    for (const [at, { schema, shape }] of FLEET_TABLES.entries()) {
      for (const statement of sampleTables(shapeCalled(shape), schema)) await client.query(statement);
      const { insert, publish, table } = layoutOf(at);
      await client.query(`SET search_path TO ${schema}`);
      await client.query(
        `${insert(`${stopped(at) ? '600 + ' : ''}7200 * (${rows} - i)::float8 / ${rows}`)} FROM generate_series(1, ${rows}) AS i`,
      );
      await client.query(publish);
      if (stopped(at)) await client.query(`${insert('599 - i')} FROM generate_series(1, 40) AS i`);
      else moves.push(...movesOf(schema, table, publish, insert));
    }
    await client.query(
      `RESET search_path; CREATE FUNCTION move() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ${moves.join('; ')}; END $$; ANALYZE`,
    );
  } finally {
    await client.end();
  }
}

/** Publishes what the move before has left, and leaves one or two new events waiting. */
function movesOf(schema: string, table: string, publish: string, insert: Layout['insert']): string[] {
  return [publish, `${insert('0')} FROM generate_series(1, 1 + (random() * 2)::int) AS i`].map((text) =>
    text.replace(new RegExp(`\\b${table}\\b`), `${schema}.${table}`),
  );
}
