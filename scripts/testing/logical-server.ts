import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { makeDataFolder } from './data-folder';
import { PATIENCE_MS } from './patience';

/** The server of the other tests writes no log that could be read. */
const SETTINGS = {
  wal_level: 'logical',
  fsync: 'off',
  max_replication_slots: '6',
  max_wal_senders: '6',
  // A reader that only listens is not sent away.
  wal_sender_timeout: '0',
  min_wal_size: '32MB',
  max_wal_size: '32MB',
};

export interface LogicalServer {
  /** The owner's connection string, its password in it. */
  url: string;
  /** The same of a login whose password is `test`. */
  urlFor(login: string): string;
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Somebody who reads the slot by a publication and confirms nothing, until ended. */
  connect(slot: string, publication: string): Promise<{ end(): Promise<void> }>;
}

/** A PostgreSQL of the file's own whose log can be read. Call it once at the top of the file. */
export function useLogicalServer(setUp: (server: LogicalServer) => Promise<void>): LogicalServer {
  let dir: string;
  let server: EmbeddedPostgres;
  let owner: pg.Client;
  const url = (): string => server.superuserUrl('postgres');
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await owner.query<Row>(text, values)).rows;
  const given: LogicalServer = {
    get url() {
      return url();
    },
    urlFor: (login) => Object.assign(new URL(url()), { username: login, password: 'test' }).href,
    query,
    async connect(slot, publication) {
      const reader = new pg.Client({ connectionString: url(), replication: 'database' } as pg.ClientConfig);
      reader.on('error', () => undefined);
      await reader.connect();
      reader
        .query(`START_REPLICATION SLOT ${slot} LOGICAL 0/0 (proto_version '1', publication_names '${publication}')`)
        .catch(() => undefined);
      await until(async () => isActive(slot), true);
      return {
        async end() {
          await reader.end();
          await until(async () => isActive(slot), false);
        },
      };
    },
  };
  const isActive = async (slot: string): Promise<boolean> =>
    (await query<{ active: boolean }>('SELECT active FROM pg_replication_slots WHERE slot_name = $1', [slot]))[0]?.active ?? false;

  beforeAll(async () => {
    dir = makeDataFolder('outbox-console-slots-');
    server = await startEmbeddedPostgres({ dir, settings: SETTINGS });
    owner = new pg.Client({ connectionString: url() });
    await owner.connect();
    await setUp(given);
  });
  afterAll(async () => {
    await owner.end();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  return given;
}

async function until(ask: () => Promise<boolean>, wanted: boolean): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(50)) if ((await ask()) === wanted) return;
  throw new Error('the slot is not as it should be');
}
