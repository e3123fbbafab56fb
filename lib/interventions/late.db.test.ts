/** A try that comes to its turn too late changes nothing: another console may have said so already. */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { openDatabase, type Database } from '@/lib/database/database';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { INTERVENTION_MS } from '@/lib/shared/changes/intervention-time';
import { ENGINE_KEYS, type InterventionRequest } from '@/lib/shared/model';
import { proveAuditTakesEntries } from '@/lib/store/audit';
import { migrateStore, openStore } from '@/lib/store/store';
import { lookAs, startLook } from '@/scripts/testing/another-console';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, insertRow, openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { findByKey } from './find-intervention';
import { intervene, type InterventionDeps } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

describe.each(ENGINE_KEYS)('a try that is late on %s', (engine) => {
  const database = useTestDatabaseOf(engine, (db) => createSample(db, workerStatus, { rows: false }));
  const storeDatabase = useTestDatabase();
  let open: ProvenOutbox;
  const ends: (() => Promise<unknown>)[] = [];
  let request: InterventionRequest;
  let key: string;
  let event = 200;

  beforeAll(async () => {
    open = await openProven(database, workerStatus);
    ends.push(open.close);
    expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
  });
  afterAll(() => Promise.all(ends.map((end) => end())));
  beforeEach(async () => {
    event += 1;
    await insertRow(database, 'outbox_events', { ...sampleOf(workerStatus).rows[0]?.values, id: event });
    const version = (await getEvent(open.outbox, String(event)))?.event.version ?? '';
    request = { operation: 'archive', events: [{ id: String(event), version }], reason: 'sent by hand' };
    key = freshKey();
  });

  const login = (name: string): string => database.urlFor(`${name}_${database.name}`, 'test');
  const console = (): { deps: InterventionDeps; own: Database } => {
    const own = openDatabase({ id: 'test', url: login('r'), operatorUrl: login('o') });
    const store = openStore(storeDatabase.url);
    ends.push(
      () => own.close(),
      () => store.close(),
    );
    const deps = {
      ...depsFor({ ...open.outbox, database: own }, open.known),
      requireStore: () => proveAuditTakesEntries(store.db),
      unsettled: unsettledLog(store, (error) => expect.fail(String(error))),
    };
    return { deps, own };
  };
  const byKey = (deps: InterventionDeps) => findByKey(deps, { outbox: 'sample', actor: ANNA, key });
  /** A replica knows of it what the store and the observed database say. */
  const question = () => ({ url: login('r'), operatorUrl: login('o'), storeUrl: storeDatabase.url, key });
  const elsewhere = () => lookAs(question());
  const state = async () => (await getEvent(open.outbox, String(event)))?.event.state;
  const records = async () => {
    const [table, name] = engine === 'postgres' ? ['outbox_console.intervention', 'key'] : ['outbox_console_intervention', '`key`'];
    return database.query(`SELECT outcome FROM ${table} WHERE ${name} = '${key}'`);
  };
  const LATE = { code: 'timeout', message: expect.stringContaining('this try changed nothing') as string };

  it('refuses itself where it waited in line until another console had said that nothing was changed', async () => {
    const { deps, own } = console();
    // Ahead: who waits in line, and who holds a transaction open, does so for ten seconds at the most.
    const lookElsewhere = await startLook(question());
    let elapsed = 0;
    let free = (): void => undefined;
    const gate = new Promise<void>((resolve) => (free = resolve));
    const holders = Array.from({ length: 4 }, () => own.write?.(() => gate) ?? expect.fail('no operator'));
    await expect.poll(() => own.status().roles.operator?.inUse).toBe(4);
    const sent = intervene(deps, ANNA, 'sample', request, key, () => elapsed);
    const refused = expect(sent).rejects.toMatchObject(LATE);
    await expect.poll(() => own.status().roles.operator?.waiting).toBe(1);
    await expect(byKey(deps)).rejects.toMatchObject({ code: 'in_progress' });
    elapsed = INTERVENTION_MS;
    expect(await lookElsewhere()).toBeNull();
    free();
    await Promise.all(holders);
    await refused;
    expect([await records(), await state(), await elsewhere()]).toEqual([[], 'pending', null]);
    // A new decision under the same key is none of the old one's.
    expect(await intervene(deps, ANNA, 'sample', request, key)).toMatchObject({ outcome: 'applied' });
  });

  it('does not commit what it had begun in time', async () => {
    const { deps } = console();
    const times = [INTERVENTION_MS - 1, INTERVENTION_MS];
    await expect(intervene(deps, ANNA, 'sample', request, key, () => times.shift() ?? Infinity)).rejects.toMatchObject(LATE);
    expect([times, await records(), await state(), await byKey(deps)]).toEqual([[], [], 'pending', null]);
  });
});
