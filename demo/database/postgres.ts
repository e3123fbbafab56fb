import pg from 'pg';
import { postgresFailure } from '@/lib/database/postgres/failure';
import type { Connection, ServiceEngine } from './service';

const ROWS_PER_STATEMENT = 4_000;
const NOW = "(now() AT TIME ZONE 'UTC')";

export const postgresService: ServiceEngine = {
  async open(url) {
    const client = new pg.Client({ connectionString: url, application_name: 'demo' });
    // A lost connection shows in the next statement; without a listener it would end the process.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  },
  isLost: (error) => postgresFailure(error).code === 'connection',
  now: NOW,
  before: (parameter) => `(${NOW} - ${parameter} * interval '1 millisecond')`,
  insertCounted: (connection, statement, values) => insertOne(connection, `${statement} RETURNING id`, values),
  insertRows,
  businessTable: (name) =>
    `CREATE TABLE ${name} (id text PRIMARY KEY, status text NOT NULL, amount numeric(20, 2) NOT NULL, currency text NOT NULL, updated_at timestamptz NOT NULL DEFAULT now())`,
  putBusiness: (name) =>
    `INSERT INTO ${name} (id, status, amount, currency) VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, updated_at = now()`,
  analyze: () => 'ANALYZE',
};

/** `INSERT … SELECT` from a JSON document: `columns` names each column with its type. */
export async function insertRows(
  connection: Connection,
  table: string,
  columns: Record<string, string>,
  rows: Record<string, unknown>[],
): Promise<void> {
  const names = Object.keys(columns).join(', ');
  const typed = Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    await connection.query(`INSERT INTO ${table} (${names}) SELECT ${names} FROM jsonb_to_recordset($1::jsonb) AS row (${typed})`, [
      JSON.stringify(rows.slice(start, start + ROWS_PER_STATEMENT)),
    ]);
  }
}

/** Answers the id that `INSERT … RETURNING id` gave. */
export async function insertOne(connection: Connection, statement: string, values: unknown[]): Promise<string> {
  const { rows } = await connection.query<{ id: string }>(statement, values);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('an inserted event has no id');
  return id;
}
