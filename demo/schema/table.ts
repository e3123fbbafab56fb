import type pg from 'pg';

/** Whatever statements can be sent through: a connection, or one that waits out an outage. */
export interface Connection {
  query<R extends pg.QueryResultRow = Record<string, unknown>>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>>;
}

/** Something that happened in a demo service and that others are to hear of. */
export interface StoryEvent {
  id: string;
  type: string;
  aggregateType: string;
  aggregateId: string;
  payload: Record<string, unknown>;
  traceId: string;
  dedupKey: string;
  /** What the service writes for itself in the same transaction. */
  business: { id: string; status: string; amount: string; currency: string };
}

/** An event of the days before the demo started, and what became of it. */
export interface PastEvent {
  event: StoryEvent;
  createdAt: Date;
  state: 'published' | 'dead' | 'pending';
  /** When it was published or died; null while it waits. */
  endedAt: Date | null;
  attempts: number;
  error: string | null;
}

/** One of the five tables of record, as the service that owns it writes it. */
export interface OutboxTable {
  /** The outbox, its dead-letter table if it has one, and a small business table. */
  ddl: string[];
  /** Inserts one event, in the transaction `client` is in; answers the id it got. `createdAt` defaults to now. */
  insert(client: Connection, event: StoryEvent, createdAt?: Date): Promise<string>;
  /** Inserts many, oldest first, in a few statements. */
  insertPast(client: Connection, events: PastEvent[]): Promise<void>;
}

/** The business table; every service has one beside its outbox. */
export function businessTable(name: string): string {
  return `CREATE TABLE ${name} (id text PRIMARY KEY, status text NOT NULL, amount numeric(20, 2) NOT NULL, currency text NOT NULL, updated_at timestamptz NOT NULL DEFAULT now())`;
}

/** The service's own write and its event, in one transaction: what outboxes exist for. */
export async function record(
  client: Connection,
  business: string,
  table: OutboxTable,
  event: StoryEvent,
  createdAt?: Date,
): Promise<string> {
  await client.query('BEGIN');
  try {
    const { id, status, amount, currency } = event.business;
    await client.query(
      `INSERT INTO ${business} (id, status, amount, currency) VALUES ($1, $2, $3, $4)
       ON CONFLICT (id) DO UPDATE SET status = excluded.status, updated_at = now()`,
      [id, status, amount, currency],
    );
    const eventId = await table.insert(client, event, createdAt);
    await client.query('COMMIT');
    return eventId;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

const ROWS_PER_STATEMENT = 4_000;

/** `INSERT … SELECT` from a JSON document: `columns` names each column with its type. */
export async function insertRows(
  client: Connection,
  table: string,
  columns: Record<string, string>,
  rows: Record<string, unknown>[],
): Promise<void> {
  const names = Object.keys(columns).join(', ');
  const typed = Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    await client.query(`INSERT INTO ${table} (${names}) SELECT ${names} FROM jsonb_to_recordset($1::jsonb) AS row (${typed})`, [
      JSON.stringify(rows.slice(start, start + ROWS_PER_STATEMENT)),
    ]);
  }
}

/** Answers the first column of the row that `INSERT … RETURNING` gave. */
export async function insertOne(client: Connection, statement: string, values: unknown[]): Promise<string> {
  const { rows } = await client.query<{ id: string }>(statement, values);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('an inserted event has no id');
  return id;
}
