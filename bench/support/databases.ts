import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Filling } from '../fillings/filling';
import type { BenchServer } from './server';

/** Filled tables are kept for the next benchmark of the same run, up to this many rows: about 16 GB. */
const KEPT_ROWS = 32_000_000;
/** Rows loaded per second, pessimistically: the history ends when the load is over, not when it began. */
const LOADED_PER_SECOND = 45_000;

export interface FilledDatabase {
  name: string;
  rows: number;
  filling: Filling;
}

export interface Databases {
  /** The database that holds this filling at this size, made when there is none yet. */
  filled(filling: Filling, rows: number): Promise<FilledDatabase>;
  /** An empty one. */
  empty(name: string): Promise<string>;
  drop(name: string): Promise<void>;
}

/** The databases of one run. */
export function createDatabases(server: BenchServer): Databases {
  const kept: FilledDatabase[] = [];
  const drop = async (name: string): Promise<void> => {
    await server.query('postgres', `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    const at = kept.findIndex((one) => one.name === name);
    if (at !== -1) kept.splice(at, 1);
  };
  const empty = async (name: string): Promise<string> => {
    await drop(name);
    await server.query('postgres', `CREATE DATABASE ${name} TEMPLATE template0`);
    return name;
  };
  return {
    drop,
    empty,
    async filled(filling, rows) {
      const name = `${filling.key.replaceAll('-', '_')}_${rows}`;
      const found = kept.find((one) => one.name === name);
      if (found !== undefined) return found;
      while (kept.length > 0 && kept.reduce((sum, one) => sum + one.rows, rows) > KEPT_ROWS) await drop(kept[0]?.name ?? '');
      await empty(name);
      await fill(server, name, filling, rows);
      const made = { name, rows, filling };
      kept.push(made);
      return made;
    },
  };
}

async function fill(server: BenchServer, database: string, filling: Filling, rows: number): Promise<void> {
  const begun = Date.now();
  process.stderr.write(`filling ${filling.key} with ${rows.toLocaleString('en-US')} rows … `);
  const client = new pg.Client({ connectionString: server.superuserUrl(database), application_name: 'bench' });
  await client.connect();
  try {
    await client.query('CREATE EXTENSION pg_stat_statements');
    await client.query('SELECT setseed(0.42)');
    await client.query('BEGIN');
    for (const statement of filling.ddl) await client.query(statement);
    const rebuild = await dropIndexes(client, filling.table);
    const endsAt = new Date(Date.now() + (rows / LOADED_PER_SECOND) * 1_000).toISOString();
    for (const statement of filling.load(rows, `timestamptz '${endsAt}'`)) await client.query(statement);
    for (const statement of rebuild) await client.query(statement);
    await client.query('COMMIT');
    await client.query('VACUUM (ANALYZE, FREEZE)');
    await client.query('CHECKPOINT');
    const [size] = (await client.query<{ pretty: string }>('SELECT pg_size_pretty(pg_database_size(current_database())) AS pretty')).rows;
    process.stderr.write(`${size?.pretty ?? ''} in ${Math.round((Date.now() - begun) / 1_000)} s\n`);
    // What is dated a little ahead of the clock has to have happened before anybody looks.
    await sleep(Math.max(0, Date.parse(endsAt) - Date.now()));
  } finally {
    await client.end();
  }
}

/** Takes the table's keys and indexes away and answers the statements that bring them back: one build is faster than ten million insertions. */
async function dropIndexes(client: pg.Client, table: string): Promise<string[]> {
  const { rows: constraints } = await client.query<{ name: string; definition: string }>(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u')`,
    [table],
  );
  for (const { name } of constraints) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    'SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = $1::regclass',
    [table],
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  return [
    ...constraints.map(({ name, definition }) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`),
    ...indexes.map(({ definition }) => definition),
  ];
}
