/**
 * Vitest's global setup of the projects `db` and `race`: one embedded PostgreSQL for the run, on a port and in
 * a folder of its own. Databases of failed test files stay (scripts/testing/database.ts), and with them the folder;
 * otherwise nothing is left.
 */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { makeDataFolder } from './data-folder';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's URL of the database `postgres`. */
    postgresUrl: string;
  }
}

/** Nothing here outlives the run, so no write waits for the disk. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum_naptime: '5s',
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = makeDataFolder('outbox-console-test-');
  const server = await startEmbeddedPostgres({ dir, settings: SETTINGS });
  const url = server.superuserUrl('postgres');
  project.provide('postgresUrl', url);
  return async () => {
    const kept = await keptDatabases(url);
    await server.stop();
    if (kept.length === 0) await rm(dir, { recursive: true, force: true });
    else console.error(`Kept for a look, data folder ${dir}: ${kept.join(', ')}`);
  };
}

async function keptDatabases(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>(`SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%' ORDER BY 1`);
    return rows.map((row) => row.datname);
  } finally {
    await client.end();
  }
}
