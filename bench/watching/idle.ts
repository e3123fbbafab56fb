/** What outboxes in which nothing happens cost, on either engine, with all of the console that watches them. */
import { sampleOf } from '@/fixtures/samples';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleTables, shapeCalled, testOutbox } from '@/fixtures/outboxes';
import { openConsole } from '../fleet/console';
import type { Databases } from '../support/databases';
import { countersOf } from '../support/counters';
import { startMysqlBenchServer } from '../support/mysql-server';
import type { BenchServer } from '../support/server';
import { countingLine } from './counting-line';

export const IDLE_OUTBOXES = 5;
const IDLE_MS = 30_000;
/** Looks begin, and the past has been read. */
const SETTLED_MS = 15_000;
/** A screen asks this often. */
const POLL_MS = 5_000;

export interface Idle {
  server: string;
  /** Of one outbox, a second. */
  statements: number;
  /** Ways there and back of one outbox, a second. */
  ways: number;
}

interface Watched {
  server: string;
  shape: string;
  /** One schema of the database for each outbox. */
  schemas: string[];
  url: string;
  /** Statements the server has executed so far. */
  statements(): Promise<number>;
}

/** One after the other, each with a store of its own. */
export async function measureIdle(server: BenchServer, databases: Databases, dir: string): Promise<Idle[]> {
  const schemas = Array.from({ length: IDLE_OUTBOXES }, (_, at) => `idle${String(at)}`);
  const storeUrl = async (): Promise<string> => server.superuserUrl(await databases.empty('idle_store'));
  return [
    await idleOf(await onPostgres(server, databases, schemas), await storeUrl()),
    await onMysql(dir, schemas, async (watched) => idleOf(watched, await storeUrl())),
  ];
}

async function onPostgres(server: BenchServer, databases: Databases, schemas: string[]): Promise<Watched> {
  const shape = shapeCalled('published-at');
  const database = await databases.empty('idle');
  await server.query(database, 'CREATE EXTENSION pg_stat_statements');
  for (const schema of schemas) await server.query(database, sampleTables(shape, schema).join(';\n'));
  return {
    server: `PostgreSQL ${server.version.split(' ')[0] ?? ''}`,
    shape: shape.key,
    schemas,
    url: server.url(database, 'fleet'),
    statements: async () => (await countersOf(server, database, 'fleet')).calls,
  };
}

async function onMysql<T>(dir: string, schemas: string[], work: (watched: Watched) => Promise<T>): Promise<T> {
  const server = await startMysqlBenchServer(dir);
  try {
    const shape = shapeCalled('worker-status');
    for (const schema of schemas) {
      await server.query(null, `create database ${schema}`);
      for (const statement of sampleOf(shape).ddl.mysql ?? []) await server.query(schema, statement);
    }
    return await work({
      server: server.version,
      shape: shape.key,
      schemas,
      url: server.url(schemas[0] ?? ''),
      async statements() {
        const [row] = await server.query<{ Value: string }>(null, "show global status where variable_name = 'Questions'");
        return Number(row?.Value ?? 0);
      },
    });
  } finally {
    await server.stop();
  }
}

async function idleOf({ server, shape, schemas, url, statements }: Watched, storeUrl: string): Promise<Idle> {
  const outboxes = schemas.map((schema) => testOutbox(shapeCalled(shape), schema, { database: 'idle' }));
  const line = await countingLine(url);
  const watching = await openConsole({ databases: [{ id: 'idle', url: line.url }], outboxes }, storeUrl, (what, error) =>
    process.stderr.write(`${what}: ${String(error)}\n`),
  );
  let on = true;
  const viewer = (async () => {
    while (on) {
      await watching.snapshots.fleet();
      await sleep(POLL_MS);
    }
  })();
  try {
    await sleep(SETTLED_MS);
    const before = { ways: line.ways(), statements: await statements() };
    await sleep(IDLE_MS);
    const after = { ways: line.ways(), statements: await statements() };
    const each = (n: number): number => n / IDLE_OUTBOXES / (IDLE_MS / 1_000);
    return { server, statements: each(after.statements - before.statements), ways: each(after.ways - before.ways) };
  } finally {
    on = false;
    await viewer;
    await watching.stop();
    line.close();
  }
}
