import { sampleOf } from '@/fixtures/samples';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, it } from 'vitest';
import { createServers } from '@/lib/database/connections/servers';
import { openDatabase, type Database } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS } from '@/lib/store/embedded/embedded-postgres';
import { migrateStore, openStore } from '@/lib/store/store';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { startMariadb } from '@/scripts/testing/mariadb';
import { settingsFor } from '@/scripts/testing/outbox';
import { startCarrier } from './carrier';

const DATABASES = 20;
const OUTBOXES = 200;
/** Three rests of twenty databases. */
const WATCHED_MS = 24_000;
const LIMIT_PER_SECOND = 20;

/** A server of its own, so that whatever is counted there is the carrier's. */
interface Server {
  url(database: string): string;
  run(text: string, database?: string): Promise<void>;
  /** Statements since the start, this question included. */
  count(): Promise<number>;
  stop(): Promise<void>;
}

const folders: string[] = [];
const folder = (name: string): string => {
  const made = makeDataFolder(name);
  folders.push(made);
  return made;
};
afterAll(async () => {
  for (const dir of folders) await rm(dir, { recursive: true, force: true });
});

async function postgres(): Promise<Server> {
  const settings = { ...THROWAWAY_SETTINGS, shared_preload_libraries: 'pg_stat_statements', max_connections: '100' };
  const server = await startEmbeddedPostgres({ dir: folder('oc-cost-pg-'), settings });
  const ask = async <T extends pg.QueryResultRow>(text: string, database = 'postgres'): Promise<T[]> => {
    const client = new pg.Client({ connectionString: server.superuserUrl(database) });
    await client.connect();
    return client
      .query<T>(text)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  };
  await ask('CREATE EXTENSION pg_stat_statements');
  return {
    url: server.superuserUrl,
    run: async (text, database) => void (await ask(text, database)),
    // Every statement it executed, BEGIN, SET and COMMIT too.
    count: async () => Number((await ask<{ n: string }>('SELECT sum(calls) AS n FROM pg_stat_statements'))[0]?.n),
    stop: () => server.stop(),
  };
}

async function mariadb(): Promise<Server> {
  const server = await startMariadb(folder('oc-cost-maria-'));
  const admin = await mysql.createConnection({ uri: server.url });
  return {
    url(database) {
      const url = new URL(server.url);
      url.pathname = `/${database}`;
      return url.href;
    },
    async run(text, database) {
      if (database !== undefined) await admin.changeUser({ database });
      await admin.query(text);
    },
    async count() {
      const [rows] = await admin.query<mysql.RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Questions'");
      return Number((rows[0] as { Value: string }).Value);
    },
    async stop() {
      await admin.end();
      await server.stop();
    },
  };
}

// Each has servers of its own, whose statements are counted: both are watched at once.
it.concurrent.for([
  ['postgres', postgres],
  ['mysql', mariadb],
] as const)(
  '200 outboxes at rest on 20 databases of one %s cost at most 20 statements a second, all counted',
  async ([engine, start], { expect }) => {
    const [server, store] = await Promise.all([start(), postgres()]);
    const databases: Database[] = [];
    const servers = createServers();
    const settings = settingsFor(workerStatus);
    try {
      for (let at = 0; at < DATABASES; at += 1) {
        const name = `shop_${String(at)}`;
        await server.run(`CREATE DATABASE ${name}`);
        for (const statement of sampleOf(workerStatus).ddl[engine] ?? []) await server.run(statement, name);
        const url = server.url(name);
        const owner = openDatabase({ id: name, url, operatorUrl: url });
        await applyInstall(await bindForInstall(settings, owner, url), url).finally(() => owner.close());
        databases.push(openDatabase({ id: name, url, servers }));
      }
      await store.run('CREATE DATABASE store');
      expect((await migrateStore(store.url('store'))).ok).toBe(true);
      const opened = openStore(store.url('store'));
      const database = (id: string): Database => databases[Number(id) % DATABASES] as Database;
      const ids = Array.from({ length: OUTBOXES }, (_, at) => String(at));
      const errors: unknown[] = [];
      const carrier = startCarrier({ directory: { ids, database }, store: opened, onError: (_database, error) => errors.push(error) });
      try {
        await carrier.carryAll();
        const all = async (): Promise<number> => (await server.count()) + (await store.count());
        const before = await all();
        const began = performance.now();
        await sleep(WATCHED_MS);
        const perSecond = ((await all()) - before) / ((performance.now() - began) / 1_000);
        expect(perSecond).toBeLessThanOrEqual(LIMIT_PER_SECOND);
        // It did look.
        expect(perSecond).toBeGreaterThan(DATABASES / 10);
        expect(carrier.carrying().map(({ why }) => why)).toEqual(databases.map(() => null));
        expect(errors).toEqual([]);
      } finally {
        await carrier.stop();
        await opened.close();
      }
    } finally {
      await Promise.all(databases.map((one) => one.close()));
      await Promise.all([server.stop(), store.stop()]);
    }
  },
);
