/** Of a commit that was sent nothing untrue is ever said: on both engines, with real lines that break. */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '@/lib/audit/list';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { openDatabase, type Database } from '@/lib/database/database';
import { settleAll, type SettlingOptions } from '@/lib/jobs/settling';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { ENGINE_KEYS, type InterventionRequest } from '@/lib/shared/model';
import { proveAuditTakesEntries } from '@/lib/store/audit';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { behindBreakingLine, lineTo, type Break, type BrokenDatabase, type Line } from '@/scripts/testing/breaking-line';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, insertRow, openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { findByKey, findIntervention } from './find-intervention';
import { intervene, type InterventionDeps } from './intervene';
import { ANNA, BEN, depsFor, freshKey } from '@/fixtures/interventions';

const shape = workerStatus;

describe.each(ENGINE_KEYS)('a commit without an answer on %s', (engine) => {
  const database = useTestDatabaseOf(engine, (db) => createSample(db, shape, { rows: false }));
  /** A replica that has received nothing since it was made. */
  const replica = useTestDatabaseOf(engine, (db) => createSample(db, shape, { rows: false }));
  const storeDatabase = useTestDatabase();
  const errors: unknown[] = [];
  let open: ProvenOutbox;
  let late: ProvenOutbox;
  let storeLine: Line;
  let store: Store;
  let line: BrokenDatabase;
  let request: InterventionRequest;
  let event: string;
  let key: string;
  let serial = 100;

  beforeAll(async () => {
    open = await openProven(database, shape);
    late = await openProven(replica, shape);
    expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
  });
  afterAll(() => Promise.all([open.close(), late.close()]));
  beforeEach(async () => {
    storeLine = await lineTo(storeDatabase.url, null);
    store = openStore(storeLine.url);
    event = String((serial += 1));
    const values = { ...sampleOf(shape).rows[0]?.values, id: event };
    await insertRow(database, 'outbox_events', values);
    const version = (await getEvent(open.outbox, event))?.event.version ?? '';
    request = { operation: 'archive', events: [{ id: event, version }], reason: 'sent by hand' };
    key = freshKey();
  });
  afterEach(async () => {
    await Promise.all([line.close(), store.close()]);
    storeLine.close();
  });

  /** What a console process has; another one knows of the first only what the store was told. */
  const newProcess = (over: Database = line.database): InterventionDeps & SettlingOptions => ({
    ...depsFor({ ...open.outbox, database: over }, open.known),
    requireStore: () => proveAuditTakesEntries(store.db),
    unsettled: unsettledLog(store, (error) => errors.push(error)),
    onError: (error) => errors.push(error),
  });
  const breaks = async (when: Break | null, onBreak?: () => void): Promise<void> => {
    line = await behindBreakingLine(when, database, onBreak);
  };
  const bothAway = (): void => {
    line.cut();
    storeLine.cut();
  };
  /** A store that was away a moment ago is tried again only after a while. */
  const storeBack = async (): Promise<void> => {
    storeLine.mend();
    await expect
      .poll(() =>
        proveAuditTakesEntries(store.db).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  };
  const bothBack = async (): Promise<void> => {
    line.mend();
    await storeBack();
  };
  const send = (deps: InterventionDeps) => intervene(deps, ANNA, 'sample', request, key);
  const byKey = (deps: InterventionDeps, actor = ANNA) => findByKey(deps, { outbox: 'sample', actor, key });
  const state = async () => (await getEvent(open.outbox, event))?.event.state;
  const records = async () => {
    const [table, name] = engine === 'postgres' ? ['outbox_console.intervention', 'key'] : ['outbox_console_intervention', '`key`'];
    const [row] = await database.query<{ n: unknown }>(`SELECT count(*) AS n FROM ${table} WHERE ${name} = '${key}'`);
    return Number(row?.n);
  };
  const told = async () =>
    (await listAudit(store, { event }, { limit: 200 })).entries.map(({ code, interventionId }) => [code, interventionId]);

  it('is unknown while database and store are away, for the same key too, and applied once they are back', async () => {
    await breaks('after', bothAway);
    const deps = newProcess();
    const first = await send(deps);
    expect(first).toMatchObject({ outcome: 'unknown', changed: [], at: null });
    expect(await send(deps)).toEqual(first);
    expect(await byKey(deps)).toEqual(first);
    expect(await findIntervention(deps, first.interventionId)).toEqual(first);
    await settleAll(deps);
    await bothBack();
    await settleAll(deps);
    const settled = { interventionId: first.interventionId, outcome: 'applied', changed: [event], undo: 'restore' };
    expect(await findIntervention(deps, first.interventionId)).toMatchObject(settled);
    expect(await byKey(deps)).toMatchObject(settled);
    expect(await send(deps)).toMatchObject(settled);
    expect([await records(), await state(), await told()]).toEqual([1, 'archived', []]);
    expect(await deps.unsettled.list(['sample'])).toEqual([]);
  });

  it('is unknown while nobody can say that it never arrived; then it is told to the audit once, and the same key may be tried again', async () => {
    await breaks('before', bothAway);
    const deps = newProcess();
    const { interventionId, outcome } = await send(deps);
    expect(outcome).toBe('unknown');
    await bothBack();
    await settleAll(deps);
    await settleAll(deps);
    const none = { interventionId, outcome: 'none', changed: [], at: null };
    expect(await byKey(deps)).toMatchObject(none);
    expect(await findIntervention(newProcess(), interventionId)).toMatchObject(none);
    expect([await records(), await state(), await told()]).toEqual([0, 'pending', [['not_applied', interventionId]]]);
    const again = await send(deps);
    expect(again).toMatchObject({ outcome: 'applied', changed: [event] });
    expect(await byKey(newProcess())).toEqual(again);
    expect(await findIntervention(deps, interventionId)).toMatchObject(none);
  });

  it('is settled by a second process with the store’s word alone, and by the same key', async () => {
    await breaks('after', () => line.cut());
    expect(await send(newProcess())).toMatchObject({ outcome: 'unknown' });
    const second = newProcess();
    expect(await send(second)).toMatchObject({ outcome: 'unknown' });
    await expect(intervene(second, ANNA, 'sample', { ...request, reason: 'another' }, key)).rejects.toMatchObject({ code: 'key_reused' });
    line.mend();
    expect(await send(second)).toMatchObject({ outcome: 'applied', changed: [event] });
    expect([await records(), await told()]).toEqual([1, []]);
    expect(await second.unsettled.list(['sample'])).toEqual([]);
  });

  it('is settled without the store, which hears of it when it is back', async () => {
    await breaks('before', bothAway);
    const deps = newProcess();
    const { interventionId } = await send(deps);
    line.mend();
    await settleAll(deps);
    expect(await findIntervention(deps, interventionId)).toMatchObject({ outcome: 'none' });
    await expect(send(deps)).rejects.toMatchObject({ code: 'unavailable' });
    await storeBack();
    await settleAll(deps);
    expect(await told()).toEqual([['not_applied', interventionId]]);
    expect(await findIntervention(newProcess(), interventionId)).toMatchObject({ outcome: 'none' });
  });

  it('is not looked for where a reader is behind its time', async () => {
    await breaks('after');
    const operatorUrl = line.url;
    const lagging = openDatabase({ id: 'test', url: replica.urlFor(`r_${replica.name}`, 'test'), operatorUrl });
    try {
      const deps = newProcess(lagging);
      const result = await send(deps);
      expect(result).toMatchObject({ outcome: 'applied', changed: [event] });
      expect(line.broke()).toBe(true);
      expect(await byKey(deps)).toEqual(result);
      expect(await findIntervention(deps, result.interventionId)).toEqual(result);
    } finally {
      await lagging.close();
    }
  });

  it('is not denied before its transaction has begun', async () => {
    await breaks(null);
    let open = (): void => undefined;
    const slow = new Promise<void>((resolve) => (open = resolve));
    const deps = { ...newProcess(), requireStore: () => slow };
    const sent = send(deps);
    await expect(byKey(deps)).rejects.toMatchObject({ code: 'in_progress' });
    open();
    expect(await sent).toMatchObject({ outcome: 'applied' });
  });

  it('leaves a key that nobody knows unanswered while its database is away, and free afterwards', async () => {
    await breaks(null);
    const deps = newProcess();
    const id = '01900000-0000-7000-8000-00000000000a';
    line.cut();
    await expect(byKey(deps, BEN)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(findIntervention(deps, id)).rejects.toMatchObject({ code: 'unavailable' });
    line.mend();
    expect(await byKey(deps, BEN)).toBeNull();
    expect(await findIntervention(deps, id)).toBeNull();
  });
});
