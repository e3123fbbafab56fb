import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { depsFor } from '@/fixtures/interventions';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { lacksOf, type Carrying } from '@/lib/shared/changes/carrying';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { startCarrier, type Carrier } from './carrier';
import { entriesOfRecord, idMadeAt, plantRecords } from '@/fixtures/records';
import { ENGINE_KEYS } from '@/lib/shared/model';

/** What is lacking is told after ten seconds, and is over with the next look. */
const TOLD = { timeout: 30_000, interval: 200 };

// Both mostly wait, side by side; the tests of one go one after the other.
describe.each(ENGINE_KEYS)('records of %s that the audit lacks', { concurrent: true }, (engine) => {
  const observed = useTestDatabaseOf(engine, (database) => createSample(database, workerStatus, { rows: false }));
  const storeDatabase = useTestDatabase();
  let open: OpenOutbox;
  let store: Store;
  let carrier: Carrier;
  let errors: unknown[];
  let serial = 0;
  const next = (): string => idMadeAt(Date.now(), (serial += 1));
  const carrying = (): Carrying | undefined => carrier.carrying()[0];
  const isThere = async (id: string) => (await entriesOfRecord(store, id)).length > 0;

  beforeAll(async () => {
    open = await openSample(observed, workerStatus);
    expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
    store = openStore(storeDatabase.url);
    carrier = startCarrier({ directory: depsFor(open.outbox).directory, store, onError: (_database, error) => errors.push(error) });
    await carrier.carryAll();
  });
  beforeEach(() => void (errors = []));
  afterAll(async () => {
    await carrier.stop();
    await Promise.all([open.close(), store.close()]);
  });

  it.sequential('because the store takes no entries, are counted and told, and come when it does again', async ({ expect }) => {
    const ids = [next(), next()];
    await storeDatabase.query('ALTER TABLE audit_entry RENAME TO taken_away');
    await plantRecords(
      observed,
      ids.map((id) => ({ id })),
    );
    await expect.poll(() => lacksOf(carrier.carrying()), TOLD).toMatchObject([{ database: 'test', why: 'store', records: 2 }]);
    await storeDatabase.query('ALTER TABLE taken_away RENAME TO audit_entry');
    await expect.poll(() => carrying()?.why, TOLD).toBeNull();
    expect(await Promise.all(ids.map(isThere))).toEqual([true, true]);
    // Once, however often it was tried.
    expect(errors).toHaveLength(1);
  });

  it.sequential('because one of them cannot be kept, keep none of the others, and are counted and told', async ({ expect }) => {
    const [sound, broken] = [next(), next()];
    await storeDatabase.query(`ALTER TABLE audit_entry ADD CONSTRAINT no_such CHECK (actor_name <> 'planted ${broken}')`);
    await plantRecords(observed, [{ id: broken }, { id: sound }]);
    await expect.poll(() => isThere(sound), TOLD).toBe(true);
    await expect.poll(() => lacksOf(carrier.carrying()), TOLD).toMatchObject([{ database: 'test', why: 'record', records: 1 }]);
    await storeDatabase.query('ALTER TABLE audit_entry DROP CONSTRAINT no_such');
    await expect.poll(() => carrying()?.why, TOLD).toBeNull();
    expect(await isThere(broken)).toBe(true);
  });

  it.sequential('because its reader is turned away, are not known, and come when it is back', async ({ expect }) => {
    const id = next();
    const reader = decodeURIComponent(open.outbox.database.roles.reader);
    const turn = (away: boolean): Promise<unknown> =>
      observed.query(
        engine === 'postgres'
          ? `ALTER ROLE ${reader} ${away ? 'NOLOGIN' : 'LOGIN'}`
          : `ALTER USER ${reader}@'%' ACCOUNT ${away ? 'LOCK' : 'UNLOCK'}`,
      );
    await turn(true);
    if (engine === 'postgres') await observed.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${reader}'`);
    else
      for (const { id: session } of await observed.query<{ id: string }>(
        `SELECT id AS id FROM information_schema.processlist WHERE user = '${reader}'`,
      ))
        await observed.query(`KILL ${session}`);
    await plantRecords(observed, [{ id }]);
    await expect.poll(() => lacksOf(carrier.carrying()), TOLD).toMatchObject([{ database: 'test', why: 'database' }]);
    expect(await isThere(id)).toBe(false);
    await turn(false);
    await expect.poll(() => isThere(id), TOLD).toBe(true);
  });
});
