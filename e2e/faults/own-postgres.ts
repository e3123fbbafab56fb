/** A PostgreSQL of a file's own, that can be stopped in the middle of everything and started again where it was. */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import type { TestDatabase } from '@/scripts/testing/database';

/** What was committed is there after a stop, as it was written to the system; the machine itself does not go down. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0', autovacuum_naptime: '5s' };

export interface OwnPostgres {
  createDatabase(name: string): Promise<TestDatabase>;
  /** Immediate shutdown: no transaction is ended, no connection told; starting it again recovers from the log. */
  stopAtOnce(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function ownPostgres(): Promise<OwnPostgres> {
  const dir = makeDataFolder('outbox-console-faults-');
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ dir, settings: SETTINGS });
  const { port } = server;
  const pools: pg.Pool[] = [];
  return {
    async createDatabase(name) {
      await server.createDatabase(name);
      const url = server.superuserUrl(name);
      const pool = new pg.Pool({ connectionString: url, max: 5 });
      pool.on('error', () => undefined);
      pools.push(pool);
      return {
        engine: 'postgres',
        name,
        url,
        urlFor: (username, password) => Object.assign(new URL(url), { username, password }).href,
        query: async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) => (await pool.query<T>(text, values)).rows,
      };
    },
    async stopAtOnce() {
      process.kill(server.pid, 'SIGQUIT');
      await server.stop();
    },
    async start() {
      server = await startEmbeddedPostgres({ dir, port, settings: SETTINGS });
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.end()));
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
