/** The store a command works on: the configured one, or the embedded PostgreSQL of this installation. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { Config } from '@/lib/config/config';
import { placeEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { EmbeddedPostgresInUse } from '@/lib/store/embedded/data-folder';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Where a running console leaves the address of its embedded store, for commands beside it. */
const ADDRESS = path.join(ROOT, '.outbox-console', 'store.json');
const DATABASE = 'outbox_console';

export interface OwnStore {
  url: string;
  /** Null for a store that somebody else runs. */
  embedded: EmbeddedPostgres | null;
  stop(): Promise<void>;
}

async function createDatabaseOnce(server: EmbeddedPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: server.superuserUrl('postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(DATABASE)}`);
  } finally {
    await client.end();
  }
}

/**
 * The store to work on. Rejects with EmbeddedPostgresInUse when the embedded one belongs to another process and
 * `share` is not set; with it, a running console's store is used as it runs.
 */
export async function ownStore(config: Config, { share }: { share: boolean }): Promise<OwnStore> {
  if (config.storeUrl !== null) return { url: config.storeUrl, embedded: null, stop: () => Promise.resolve() };
  const placement = await placeEmbeddedPostgres(ROOT, 'store', process.env.OUTBOX_DEMO_DIR);
  let server: EmbeddedPostgres;
  try {
    server = await startEmbeddedPostgres(placement);
  } catch (error) {
    if (!share || !(error instanceof EmbeddedPostgresInUse)) throw error;
    const { url } = JSON.parse(await readFile(ADDRESS, 'utf8')) as { url: string };
    return { url, embedded: null, stop: () => Promise.resolve() };
  }
  const url = server.superuserUrl(DATABASE);
  try {
    await createDatabaseOnce(server);
    await writeFile(ADDRESS, `${JSON.stringify({ url })}\n`, { mode: 0o600 });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    url,
    embedded: server,
    async stop() {
      await rm(ADDRESS, { force: true });
      await server.stop();
    },
  };
}
