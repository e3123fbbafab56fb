import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Filling } from '../fillings/filling';
import { dropIndexes } from './indexes';
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
  await load(server, database, filling.key, rows, async (client, endsAt) => {
    for (const statement of filling.ddl) await client.query(statement);
    const rebuild = await dropIndexes(client, filling.table);
    for (const statement of [...filling.load(rows, endsAt), ...rebuild]) await client.query(statement);
  });
}

/** Fills a database in one transaction, cleans up as autovacuum would in time, and says how long it took. */
export async function load(
  server: BenchServer,
  database: string,
  label: string,
  rows: number,
  work: (client: pg.Client, endsAt: string) => Promise<void>,
): Promise<void> {
  const begun = Date.now();
  process.stderr.write(`filling ${label} with ${rows.toLocaleString('en-US')} rows … `);
  const client = new pg.Client({ connectionString: server.superuserUrl(database), application_name: 'bench' });
  await client.connect();
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    await client.query('SELECT setseed(0.42)');
    const endsAt = new Date(Date.now() + (rows / LOADED_PER_SECOND) * 1_000).toISOString();
    await client.query('BEGIN');
    await work(client, `timestamptz '${endsAt}'`);
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
