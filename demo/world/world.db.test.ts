import { chmod, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { QueryResultRow } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { createSinkClient } from '../sink/client';
import { createStoreDatabase, withClient } from './databases';
import { startWorld, type World } from './world';

/** Everything wrong is to be seen this soon. */
const SOON = { interval: 500 };

let folder: string;
let postgres: EmbeddedPostgres;
let world: World;

async function ask(outbox: string, statement: string): Promise<QueryResultRow> {
  return withClient(world.databases[outbox] ?? '', async (client) => (await client.query<QueryResultRow>(statement)).rows[0] ?? {});
}

/** A figure that is expected to grow. */
const grows = async (outbox: string, statement: string) => {
  const before = Number((await ask(outbox, statement)).n);
  await expect.poll(async () => Number((await ask(outbox, statement)).n), SOON).toBeGreaterThan(before);
};

beforeAll(async () => {
  folder = makeDataFolder('world-');
  await chmod(folder, 0o711);
  postgres = await startEmbeddedPostgres({ dir: path.join(folder, 'pg'), settings: THROWAWAY_SETTINGS });
  const superuserUrl = (database: string) => postgres.superuserUrl(database);
  const storeUrl = await createStoreDatabase(superuserUrl);
  world = await startWorld({ superuserUrl, storeUrl, configPath: path.join(folder, 'demo.yaml'), seed: 'test', log: () => undefined });
});

afterAll(async () => {
  await world.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the demo’s world', () => {
  it('moves in all five outboxes, and publishes in three', async () => {
    await Promise.all([
      grows('escrow', 'SELECT count(*) AS n FROM p2p.transaction_outbox'),
      grows('orders-sqs', 'SELECT count(*) AS n FROM outbox_events'),
      grows('orders-kafka', 'SELECT count(*) AS n FROM outbox_events'),
      grows('orders-redis', 'SELECT count(*) AS n FROM outbox'),
      grows('notifications', 'SELECT count(*) AS n FROM outbox'),
      grows('escrow', "SELECT count(*) AS n FROM p2p.transaction_outbox WHERE status = 'processed'"),
      grows('orders-sqs', "SELECT count(*) AS n FROM outbox_events WHERE status = 'PROCESSED'"),
      grows('orders-kafka', 'SELECT count(*) AS n FROM outbox_events WHERE published_at IS NOT NULL'),
    ]);
  });

  it('has an incident of three causes in escrow that goes on, and a row nobody will finish', async () => {
    const causes = `SELECT count(*) FILTER (WHERE error_message LIKE '14 UNAVAILABLE%') > 10 AND count(*) FILTER (WHERE error_message LIKE 'insufficient funds%') > 5
      AND count(*) FILTER (WHERE error_message LIKE 'ledger refused%') > 3 AND count(DISTINCT error_message) > 30 AS all FROM p2p.transaction_outbox WHERE status = 'failed'`;
    expect(await ask('escrow', causes)).toEqual({ all: true });
    const stuck = `SELECT count(*)::int AS n FROM p2p.transaction_outbox WHERE status = 'processing' AND last_attempt_time < now() - interval '5 seconds' AND payload->'releaseTo' = 'null'`;
    await expect.poll(() => ask('escrow', stuck), SOON).toEqual({ n: 1 });
    await grows('escrow', "SELECT count(*) AS n FROM p2p.transaction_outbox WHERE status = 'failed'");
  });

  it('has dead releases of orders whose payment went out before', async () => {
    const orphans = `SELECT count(*)::int AS n, count(*) FILTER (WHERE NOT EXISTS (
        SELECT FROM p2p.transaction_outbox AS paid WHERE paid.transaction_ref_id = dead.transaction_ref_id AND paid.transaction_type = 'order_create'
           AND paid.payload->'traceId' = dead.payload->'traceId' AND paid.status = 'processed' AND paid.create_time < dead.create_time))::int AS orphans
      FROM p2p.transaction_outbox AS dead WHERE status = 'failed' AND transaction_type = 'order_complete' AND create_time > now() - interval '2 hours'`;
    const { n, orphans: found } = await ask('escrow', orphans);
    expect(n).toBeGreaterThanOrEqual(38);
    expect(found).toBe(0);
    const ads = `SELECT count(*)::int AS n, count(*) FILTER (WHERE made.payload->'seller' <> dead.payload->'seller')::int AS others
      FROM p2p.transaction_outbox AS dead JOIN p2p.transaction_outbox AS made ON made.transaction_type = 'ad_create' AND made.transaction_ref_id = dead.payload->>'adId'
      WHERE dead.status = 'failed' AND dead.transaction_type = 'order_complete' AND dead.create_time > now() - interval '30 minutes'`;
    expect(await ask('escrow', ads)).toEqual({ n: expect.any(Number) as number, others: 0 });
  });

  it('has a row of a killed worker in orders-sqs', async () => {
    expect(
      await ask(
        'orders-sqs',
        "SELECT count(*)::int AS n FROM outbox_events WHERE status = 'PROCESSING' AND updated_at < now() - interval '10 minutes'",
      ),
    ).toEqual({ n: 1 });
  });

  it('has retrying rows and overtaken keys in orders-kafka, and nothing new that is dead', async () => {
    await expect
      .poll(() => ask('orders-kafka', 'SELECT count(*) > 0 AS some FROM outbox_events WHERE published_at IS NULL AND attempt > 0'), SOON)
      .toEqual({ some: true });
    const overtaken = `SELECT count(*) > 0 AS some FROM outbox_events AS late JOIN outbox_events AS early USING (aggregate_type, aggregate_id)
      WHERE early.created_at < late.created_at AND late.published_at IS NOT NULL AND early.published_at IS NULL`;
    await expect.poll(() => ask('orders-kafka', overtaken), SOON).toEqual({ some: true });
    await grows('orders-kafka', 'SELECT count(*) AS n FROM outbox_events WHERE published_at IS NOT NULL AND attempt = 9');
    expect(await ask('orders-kafka', "SELECT count(*)::int AS n FROM outbox_dead WHERE died_at > now() - interval '30 minutes'")).toEqual({
      n: 0,
    });
  });

  it('has a poison row in orders-redis that is cured by taking it away', async () => {
    const oldest =
      "SELECT id, now() AT TIME ZONE 'UTC' - created_at > interval '8 seconds' AS old FROM outbox WHERE status = 'PENDING' ORDER BY created_at LIMIT 1";
    await expect.poll(async () => (await ask('orders-redis', oldest)).old, SOON).toBe(true);
    const { id } = await ask('orders-redis', oldest);
    const sink = createSinkClient({ url: world.sinkUrl });
    expect(await sink.deliveries('orders-redis', String(id))).toEqual([]);
    await ask('orders-redis', `DELETE FROM outbox WHERE id = '${String(id)}'`);
    await expect.poll(async () => (await ask('orders-redis', oldest)).old ?? false, SOON).toBe(false);
    sink.close();
  });

  it('has no relay in notifications', async () => {
    const { waiting, quiet } = await ask(
      'notifications',
      "SELECT count(*) FILTER (WHERE processed_at IS NULL) > 100 AS waiting, max(processed_at) < now() - interval '5 minutes' AS quiet FROM outbox",
    );
    expect({ waiting, quiet }).toEqual({ waiting: true, quiet: true });
  });

  it('gives the console roles that can do what they are for, and no more', async () => {
    const file = path.join(folder, 'demo.yaml');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { databases } = parse(await readFile(file, 'utf8')) as { databases: Record<string, { url: string; operatorUrl: string }> };
    const attempt = (url: string, statement: string) => withClient(url, async (client) => void (await client.query(statement)));
    for (const { url, operatorUrl } of Object.values(databases)) {
      await attempt(url, 'SELECT 1 FROM outbox_console.intervention');
      await expect(attempt(operatorUrl, 'CREATE TABLE public.mine ()')).rejects.toThrow('permission denied');
    }
    const { url, operatorUrl } = databases.escrow ?? { url: '', operatorUrl: '' };
    await attempt(url, 'SELECT payload FROM p2p.transaction_outbox LIMIT 1');
    await expect(attempt(url, "UPDATE p2p.transaction_outbox SET status = 'pending'")).rejects.toThrow('permission denied');
    await expect(attempt(operatorUrl, "UPDATE p2p.transaction_outbox SET payload = '{}'")).rejects.toThrow('permission denied');
    await expect(attempt(operatorUrl, 'TRUNCATE p2p.transaction_outbox')).rejects.toThrow('permission denied');
    await expect(attempt(operatorUrl, 'DELETE FROM outbox_console.intervention')).rejects.toThrow('permission denied');
  });
});
