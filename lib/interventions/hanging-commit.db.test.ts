/** A commit that hangs: PostgreSQL waits for a standby that is not there, and has made it durable long before it says so. */
import { sampleOf } from '@/fixtures/samples';
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { settleAll } from '@/lib/jobs/settling';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import type { InterventionRequest } from '@/lib/shared/model';
import { behindBreakingLine, type BrokenDatabase } from '@/scripts/testing/breaking-line';
import type { TestDatabase } from '@/scripts/testing/database';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { createSample, insertRow, openProven, type ProvenOutbox } from '@/scripts/testing/outbox';
import { findByKey } from './find-intervention';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

/** The server of the other tests has no senders, and nobody on it should wait. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', wal_level: 'replica', max_wal_senders: '2' };

let dir: string;
let server: EmbeddedPostgres;
let owner: pg.Client;
let database: TestDatabase;
let open: ProvenOutbox;
let line: BrokenDatabase;
let request: InterventionRequest;
let event = 0;

beforeAll(async () => {
  dir = makeDataFolder('outbox-console-hanging-');
  server = await startEmbeddedPostgres({ dir, settings: SETTINGS });
  const url = server.superuserUrl('postgres');
  owner = new pg.Client({ connectionString: url });
  await owner.connect();
  database = {
    engine: 'postgres',
    name: 'postgres',
    url,
    urlFor: (username, password) => Object.assign(new URL(url), { username, password }).href,
    query: async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) => (await owner.query<T>(text, values)).rows,
  };
  await createSample(database, workerStatus, { rows: false });
  open = await openProven(database, workerStatus);
  await owner.query('ALTER ROLE o_postgres SET synchronous_commit = on');
  await owner.query(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  await owner.query('SELECT pg_reload_conf()');
});
afterAll(async () => {
  await Promise.all([open.close(), owner.end()]);
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  line = await behindBreakingLine(null, database);
  event += 1;
  await insertRow(database, 'outbox_events', { ...sampleOf(workerStatus).rows[0]?.values, id: event });
  const version = (await getEvent(open.outbox, String(event)))?.event.version ?? '';
  request = { operation: 'archive', events: [{ id: String(event), version }], reason: 'sent by hand' };
});
afterEach(() => line.close());

const deps = () => ({ ...depsFor({ ...open.outbox, database: line.database }, open.known), onError: () => undefined });
const hanging = async (): Promise<number | undefined> =>
  (await database.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))[0]?.pid;
const hangs = async (): Promise<number> => {
  await expect.poll(hanging).toBeDefined();
  return (await hanging()) ?? 0;
};
const records = () => database.query('SELECT outcome FROM outbox_console.intervention');

it('is applied, though its backend was terminated before it said so', async () => {
  const answer = intervene(deps(), ANNA, 'sample', request, freshKey());
  await database.query('SELECT pg_terminate_backend($1)', [await hangs()]);
  expect(await answer).toMatchObject({ outcome: 'applied', changed: [String(event)] });
});

it('is unknown, and never not applied, for as long as it hangs', async () => {
  const [ours, key] = [deps(), freshKey()];
  const answer = intervene(ours, ANNA, 'sample', request, key);
  const pid = await hangs();
  line.cut();
  line.mend();
  const unknown = await answer;
  expect(unknown.outcome).toBe('unknown');
  await settleAll(ours);
  expect(await intervene(ours, ANNA, 'sample', request, key)).toEqual(unknown);
  expect(await findByKey(ours, { outbox: 'sample', actor: ANNA, key })).toEqual(unknown);
  // To somebody who was told nothing, it is under way.
  await expect(findByKey(deps(), { outbox: 'sample', actor: ANNA, key })).rejects.toMatchObject({ code: 'in_progress' });
  await database.query('SELECT pg_terminate_backend($1, 10000)', [pid]);
  await settleAll(ours);
  expect(await findByKey(ours, { outbox: 'sample', actor: ANNA, key })).toMatchObject({
    interventionId: unknown.interventionId,
    outcome: 'applied',
    changed: [String(event)],
  });
  expect(await records()).toEqual([{ outcome: 'applied' }, { outcome: 'applied' }]);
});
