/**
 * A MariaDB database of its own for a test file, as scripts/testing/database.ts has it for PostgreSQL. Call
 * `useTestMysql()` once at the top of the file.
 */
import { randomBytes } from 'node:crypto';
import mysql from 'mysql2/promise';
import type { QueryResultRow } from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { failed } from './failed';

export interface TestMysql {
  readonly engine: 'mysql';
  /** Set before the first test; reading it earlier throws. */
  readonly name: string;
  /** URL of a login that may do everything. */
  readonly url: string;
  /** One statement with every right, on a pool that closes with the file. */
  query<T extends QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  /** A further login to the same database, for instance with a user the test has made. */
  urlFor(user: string, password: string): string;
}

/** Creates a database for the calling test file. `setup` runs once, after it exists. */
export function useTestMysql(setup?: (database: TestMysql) => Promise<void>): TestMysql {
  const state: { name?: string; pool?: mysql.Pool } = {};
  const database: TestMysql = {
    engine: 'mysql',
    get name() {
      if (state.name === undefined) throw new Error('The test database exists from beforeAll on.');
      return state.name;
    },
    get url() {
      const url = new URL(inject('mysqlUrl'));
      url.pathname = `/${database.name}`;
      return url.href;
    },
    urlFor(user, password) {
      const url = new URL(database.url);
      url.username = encodeURIComponent(user);
      url.password = encodeURIComponent(password);
      return url.href;
    },
    async query<T extends QueryResultRow>(text: string, values?: unknown[]) {
      state.pool ??= mysql.createPool({
        uri: database.url,
        connectionLimit: 5,
        supportBigNumbers: true,
        bigNumberStrings: true,
        dateStrings: true,
        timezone: 'Z',
      });
      const [rows] = await state.pool.query(text, values);
      return (Array.isArray(rows) ? rows : []) as T[];
    },
  };

  beforeAll(async () => {
    const name = `test_${randomBytes(6).toString('hex')}`;
    await onServer(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    state.name = name;
    await setup?.(database);
  });

  // Vitest reads the first argument as fixtures and wants it destructured.
  afterAll(async ({}, suite) => {
    await state.pool?.end();
    if (state.name === undefined) return;
    if (failed(suite)) console.error(`Kept database ${state.name} of ${suite.file.name}`);
    else await onServer(`DROP DATABASE ${state.name}`);
  });

  return database;
}

async function onServer(text: string): Promise<void> {
  const connection = await mysql.createConnection({ uri: inject('mysqlUrl') });
  try {
    await connection.query(text);
  } finally {
    await connection.end();
  }
}
