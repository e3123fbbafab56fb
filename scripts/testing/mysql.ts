/**
 * A MySQL or MariaDB database of its own for a test file, as scripts/testing/database.ts has it for PostgreSQL. Call
 * `useTestMysql()` once at the top of the file. Every test passes on both servers: where they answer differently, it says
 * what each of them answers, by `mariadb`.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import type { QueryResultRow } from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { makeDataFolder } from './data-folder';
import { failed } from './failed';
import { startMariadb, type MariadbServer } from './mariadb';

/** Values as the server has them. */
const PLAIN = { supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, timezone: 'Z' } as const;

export interface TestMysql {
  readonly engine: 'mysql';
  /** Set before the first test; reading it earlier throws. */
  readonly name: string;
  /** URL of a login that may do everything. */
  readonly url: string;
  /** Whether the server is MariaDB; it is MySQL otherwise. Known from the file's first test on. */
  readonly mariadb: boolean;
  /** One statement with every right, on a pool that closes with the file. */
  query<T extends QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  /** The same in a session with settings of its own, for example `time_zone = '+09:00'`. */
  queryUnder<T extends QueryResultRow>(settings: string, text: string): Promise<T[]>;
  /** A further login to the same database, for instance with a user the test has made. */
  urlFor(user: string, password: string): string;
}

/** SQL of a derived table `alias` with the numbers from 1 to `most` as `n`, which each of the two servers makes in another way of its own. */
export function numbersTo(most: number, alias: string): string {
  const digits =
    '(select 0 as d union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9)';
  const places = Array.from(String(most), (_, index) => index);
  const value = places.map((place) => `${10 ** place} * d${place}.d`).join(' + ');
  return `(select 1 + ${value} as n from ${places.map((place) => `${digits} as d${place}`).join(' cross join ')} where 1 + ${value} <= ${most}) as ${alias}`;
}

/** Creates a database for the calling test file, with `own` on a server that nothing else uses. `setup` runs once, after it exists. */
export function useTestMysql(setup?: (database: TestMysql) => Promise<void>, { own = false }: { own?: boolean } = {}): TestMysql {
  const state: { name?: string; mariadb?: boolean; pool?: mysql.Pool; server?: MariadbServer; dir?: string } = {};
  const server = (): string => state.server?.url ?? inject('mysqlUrl');
  const database: TestMysql = {
    engine: 'mysql',
    get name() {
      if (state.name === undefined) throw new Error('The test database exists from beforeAll on.');
      return state.name;
    },
    get url() {
      const url = new URL(server());
      url.pathname = `/${database.name}`;
      return url.href;
    },
    urlFor(user, password) {
      const url = new URL(database.url);
      url.username = encodeURIComponent(user);
      url.password = encodeURIComponent(password);
      return url.href;
    },
    get mariadb() {
      if (state.mariadb === undefined) throw new Error('The server is known from beforeAll on.');
      return state.mariadb;
    },
    async query<T extends QueryResultRow>(text: string, values?: unknown[]) {
      state.pool ??= mysql.createPool({ ...PLAIN, uri: database.url, connectionLimit: 5 });
      const [rows] = await state.pool.query(text, values);
      return (Array.isArray(rows) ? rows : []) as T[];
    },
    async queryUnder<T extends QueryResultRow>(settings: string, text: string) {
      const connection = await mysql.createConnection({ ...PLAIN, uri: database.url });
      try {
        await connection.query(`set session ${settings}`);
        const [rows] = await connection.query(text);
        return (Array.isArray(rows) ? rows : []) as T[];
      } finally {
        await connection.end();
      }
    },
  };

  beforeAll(async () => {
    const name = `test_${randomBytes(6).toString('hex')}`;
    if (own) {
      state.dir = makeDataFolder('oc-own-');
      state.server = await startMariadb(state.dir);
    }
    const [row] = await onServer(server(), 'SELECT version() AS version');
    state.mariadb = /mariadb/i.test(String(row?.version));
    await onServer(server(), `CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    state.name = name;
    await setup?.(database);
  });

  // Vitest reads the first argument as fixtures and wants it destructured.
  afterAll(async ({}, suite) => {
    await state.pool?.end();
    if (state.server !== undefined && state.dir !== undefined) {
      await state.server.stop();
      await rm(state.dir, { recursive: true, force: true });
      return;
    }
    if (state.name === undefined) return;
    if (failed(suite)) console.error(`Kept database ${state.name} of ${suite.file.name}`);
    else await onServer(server(), `DROP DATABASE ${state.name}`);
  });

  return database;
}

async function onServer(uri: string, text: string): Promise<Record<string, unknown>[]> {
  const connection = await mysql.createConnection({ uri });
  try {
    const [rows] = await connection.query(text);
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  } finally {
    await connection.end();
  }
}
