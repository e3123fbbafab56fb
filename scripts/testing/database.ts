/**
 * A database of its own for a test file (`*.db.test.ts`, `*.race.test.ts`). Call `useTestDatabase()` once at the top of
 * the file; it is created before the file's first test and dropped after its last one, or kept when one failed.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { failed } from './failed';

export interface TestDatabase {
  readonly engine: 'postgres';
  /** Set before the first test; reading it earlier throws. */
  readonly name: string;
  /** Superuser's URL of the database. */
  readonly url: string;
  /** One statement as superuser, on a pool that closes with the file. */
  query<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  /** A further login to the same database, for instance with a role the test has made. */
  urlFor(user: string, password: string): string;
}

/** Creates a database for the calling test file. `setup` runs once, after it exists. */
export function useTestDatabase(setup?: (database: TestDatabase) => Promise<void>): TestDatabase {
  const state: { name?: string; pool?: pg.Pool } = {};
  const database: TestDatabase = {
    engine: 'postgres',
    get name() {
      if (state.name === undefined) throw new Error('The test database exists from beforeAll on.');
      return state.name;
    },
    get url() {
      return urlOf(database.name);
    },
    urlFor(user, password) {
      const url = new URL(database.url);
      url.username = encodeURIComponent(user);
      url.password = encodeURIComponent(password);
      return url.href;
    },
    async query(text, values) {
      state.pool ??= quietPool(database.url);
      const { rows } = await state.pool.query(text, values);
      return rows;
    },
  };

  beforeAll(async () => {
    const name = `test_${randomBytes(6).toString('hex')}`;
    await onServer(`CREATE DATABASE ${name} TEMPLATE template0`);
    state.name = name;
    await setup?.(database);
  });

  // Vitest reads the first argument as fixtures and wants it destructured.
  afterAll(async ({}, suite) => {
    await state.pool?.end();
    if (state.name === undefined) return;
    if (failed(suite)) console.error(`Kept database ${state.name} of ${suite.file.name}`);
    else await onServer(`DROP DATABASE ${state.name} WITH (FORCE)`);
  });

  return database;
}

function urlOf(name: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return url.href;
}

/** A pool whose idle connections may be ended by the server without bringing the process down. */
function quietPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  pool.on('error', () => {});
  return pool;
}

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
