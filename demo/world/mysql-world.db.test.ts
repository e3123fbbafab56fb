/** The demo with the outbox that is at home on MySQL on such a server. */
import { isProofNeeded } from '@/lib/outbox/proof/proven';
import { randomUUID } from 'node:crypto';
import { chmod, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { directoryOptions, createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { SUPPORTED, loadConfig } from '@/lib/config/load';
import { intervene } from '@/lib/interventions/intervene';
import { ANNA, depsFor } from '@/fixtures/interventions';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { serviceEngineFor, withConnection } from '../database/engine';
import { createSinkClient } from '../sink/client';
import { createStoreDatabase } from './databases';
import { startWorld, type World } from './world';

const SOON = { interval: 500 };

let folder: string;
let postgres: EmbeddedPostgres;
let world: World;
let directory: OutboxDirectory;

const onServer = <Row extends object>(statement: string): Promise<Row[]> =>
  withConnection(inject('mysqlUrl'), async (connection) => (await connection.query<Row>(statement)).rows);
const ask = async (statement: string): Promise<Record<string, unknown>> =>
  withConnection(world.databases['orders-sqs'] ?? '', async (connection) => (await connection.query(statement)).rows[0] ?? {});

beforeAll(async () => {
  folder = makeDataFolder('world-');
  await chmod(folder, 0o711);
  postgres = await startEmbeddedPostgres({ dir: path.join(folder, 'pg'), settings: THROWAWAY_SETTINGS });
  const superuserUrl = (database: string) => postgres.superuserUrl(database);
  const configPath = path.join(folder, 'demo.yaml');
  world = await startWorld({
    superuserUrl,
    storeUrl: await createStoreDatabase(superuserUrl),
    configPath,
    seed: 'test',
    mysqlUrl: inject('mysqlUrl'),
    log: () => undefined,
  });
  const reading = await loadConfig(configPath, SUPPORTED, () => undefined);
  if (!reading.ok) throw new Error(reading.problems.join('\n'));
  directory = createDirectory(directoryOptions(reading.config));
});

afterAll(async () => {
  await directory.close();
  await world.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the demo’s world on a MySQL of somebody’s', () => {
  it('has one outbox there and the others where they were', () => {
    const engines = Object.fromEntries(Object.entries(world.databases).map(([id, url]) => [id, new URL(url).protocol]));
    expect(engines).toEqual({
      escrow: 'postgresql:',
      'orders-sqs': 'mysql:',
      'orders-kafka': 'postgresql:',
      'orders-redis': 'postgresql:',
      notifications: 'postgresql:',
    });
  });

  it('has seven days of history there, writes and publishes', async () => {
    const counts = "SELECT count(*) AS events, sum(status = 'PROCESSED') AS published FROM outbox_events";
    const before = await ask(counts);
    expect(Number(before.published)).toBeGreaterThan(15_000);
    expect(Number((await ask('SELECT datediff(utc_timestamp(), min(created_at)) AS days FROM outbox_events')).days)).toBeGreaterThanOrEqual(
      6,
    );
    await expect.poll(async () => Number((await ask(counts)).events), SOON).toBeGreaterThan(Number(before.events) + 2);
    await expect.poll(async () => Number((await ask(counts)).published), SOON).toBeGreaterThan(Number(before.published) + 2);
    const ahead = 'SELECT count(*) AS ahead FROM outbox_events WHERE created_at > utc_timestamp() + INTERVAL 2 SECOND';
    expect(Number((await ask(ahead)).ahead)).toBe(0);
  });

  it('lists the row of the killed worker, and an operator releases it: it goes out', async () => {
    const outbox = await directory.get('orders-sqs');
    expect(outbox).toMatchObject({ whyReadOnly: null });
    expect(isProofNeeded(outbox)).toBe(false);
    const { events } = await listEvents(outbox, { state: ['processing'], order: 'oldest' }, { limit: 10 });
    const [stuck] = events.filter(({ lastAttemptAt }) => Date.now() - Date.parse(lastAttemptAt ?? '') > 10 * 60_000);
    expect(stuck).toBeDefined();
    const id = stuck?.id ?? '';
    const body = { operation: 'release', events: [{ id, version: stuck?.version ?? '' }], reason: 'its worker is gone' };
    expect(await intervene(depsFor(outbox), ANNA, 'orders-sqs', body, randomUUID())).toMatchObject({ outcome: 'applied', changed: [id] });
    await expect.poll(async () => (await ask(`SELECT status FROM outbox_events WHERE id = ${id}`)).status, SOON).toBe('PROCESSED');
    const sink = createSinkClient({ url: world.sinkUrl });
    expect(await sink.deliveries('orders-sqs', id)).toHaveLength(1);
    sink.close();
  });

  it('gives the console users that can do what they are for, and no more', async () => {
    const { databases } = parse(await readFile(path.join(folder, 'demo.yaml'), 'utf8')) as {
      databases: Record<string, { url: string; operatorUrl: string }>;
    };
    const { url, operatorUrl } = databases['orders-sqs'] ?? { url: '', operatorUrl: '' };
    const attempt = async (as: string, statement: string): Promise<void> => {
      const connection = await serviceEngineFor(as).open(as);
      await connection.query(statement).finally(() => connection.end());
    };
    await attempt(url, 'SELECT payload FROM outbox_events LIMIT 1');
    await expect(attempt(url, "UPDATE outbox_events SET status = 'PENDING'")).rejects.toThrow('denied');
    await expect(attempt(operatorUrl, "UPDATE outbox_events SET payload = '{}'")).rejects.toThrow('denied');
    await expect(attempt(operatorUrl, 'TRUNCATE TABLE outbox_events')).rejects.toThrow('denied');
    await expect(attempt(operatorUrl, 'SELECT * FROM orders')).rejects.toThrow('denied');
  });

  it('leaves the server as it was when it stops', async () => {
    const left = `SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE 'outbox\\_console\\_demo%'
      UNION ALL SELECT user FROM mysql.user WHERE user LIKE 'outbox\\_console\\_demo%'`;
    expect(await onServer(left)).toHaveLength(3);
    await world.stop();
    expect(await onServer(left)).toEqual([]);
  });
});
