/** A PostgreSQL of a file's own, that can be stopped in the middle of everything and started again where it was. */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import type { TestDatabase } from '@/scripts/testing/database';

/** What was committed is there after a stop, as it was written to the system; the machine itself does not go down. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0', autovacuum_naptime: '5s' };

export interface OwnPostgres {
  /** As a copy of `template`, to which nobody may be connected, if there is one. */
  createDatabase(name: string, template?: string): Promise<TestDatabase>;
  /** Ends all connections to it, and lets nobody in: then it can be copied. */
  close(name: string): Promise<void>;
  dropDatabase(name: string): Promise<void>;
  /** Immediate shutdown: no transaction is ended, no connection told; starting it again recovers from the log. */
  stopAtOnce(): Promise<void>;
  start(): Promise<void>;
  end(): Promise<void>;
}

export async function ownPostgres(): Promise<OwnPostgres> {
  const dir = makeDataFolder('outbox-console-faults-');
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ dir, settings: SETTINGS });
  const { port } = server;
  const pools = new Map<string, pg.Pool>();
  const onServer = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server.superuserUrl('postgres') });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  const endPool = async (name: string): Promise<void> => {
    const pool = pools.get(name);
    pools.delete(name);
    await pool?.end();
  };
  return {
    async createDatabase(name, template = 'template1') {
      await onServer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      const url = server.superuserUrl(name);
      const pool = new pg.Pool({ connectionString: url, max: 5 });
      pool.on('error', () => undefined);
      pools.set(name, pool);
      return {
        engine: 'postgres',
        name,
        url,
        urlFor: (username, password) => Object.assign(new URL(url), { username, password }).href,
        query: async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) => (await pool.query<T>(text, values)).rows,
      };
    },
    async close(name) {
      await endPool(name);
      await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await onServer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    async dropDatabase(name) {
      await endPool(name);
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
    async stopAtOnce() {
      process.kill(server.pid, 'SIGQUIT');
      await server.stop();
    },
    async start() {
      server = await startEmbeddedPostgres({ dir, port, settings: SETTINGS });
    },
    async end() {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
