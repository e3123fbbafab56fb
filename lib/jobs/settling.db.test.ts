import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, type OpenOutbox } from '@/scripts/testing/outbox';
import { listAudit } from '@/lib/audit/list';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { intervene } from '@/lib/interventions/intervene';
import type { Unsettled } from '@/lib/interventions/settle';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { Problem } from '@/lib/shared/problems';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { settleAll, type SettlingOptions } from './settling';

const DEAD = '00000000-0000-4000-8000-000000000005';

describe('interventions whose outcome is unknown', () => {
  const observed = useTestDatabase((db) => createSample(db, escrowStatus));
  const storeDatabase = useTestDatabase();
  let open: OpenOutbox;
  let store: Store;
  let records: string[];
  let errors: unknown[];
  let serial = 0;

  const entryFor = (outbox: string): Unsettled => ({
    id: `01900000-0000-7000-8000-${String((serial += 1)).padStart(12, '0')}`,
    outbox,
    actor: ANNA,
    key: freshKey(),
    request: { operation: 'archive', events: [{ id: DEAD, version: '1' }], reason: `unsettled ${String(serial)}` },
    at: new Date().toISOString(),
  });
  const settling = (): SettlingOptions & ReturnType<typeof depsFor> => {
    const deps = depsFor(open.outbox);
    return {
      ...deps,
      unsettled: unsettledLog(store, (error) => errors.push(error)),
      onRecord: (outbox) => records.push(outbox),
      onError: (error) => errors.push(error),
    };
  };
  const told = async (entry: Unsettled) => {
    const { entries } = await listAudit(store, { event: DEAD }, { limit: 200 });
    return entries.filter((one) => one.interventionId === entry.id);
  };

  beforeAll(async () => {
    open = await openSample(observed, escrowStatus);
    expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
    store = openStore(storeDatabase.url);
  });
  afterAll(async () => {
    await Promise.all([open.close(), store.close()]);
  });

  it('are told to the audit, once whoever finds out, when nothing was committed', async () => {
    [records, errors] = [[], []];
    const options = settling();
    const entry = entryFor('sample');
    await options.unsettled.add(entry);
    await Promise.all([settleAll(options), settleAll(settling())]);
    expect(await told(entry)).toMatchObject([
      { actor: ANNA.name, role: 'operator', operation: 'archive', outbox: 'sample', outcome: 'none', code: 'not_applied' },
    ]);
    expect(await options.unsettled.list(['sample', 'away', 'broken', 'gone'])).toEqual([]);
    expect([records, errors]).toEqual([[], []]);
  });

  it('are left to the record, and forgotten, when they were committed after all', async () => {
    [records, errors] = [[], []];
    const options = settling();
    const stored = await getEvent(open.outbox, DEAD);
    const request = { operation: 'archive', events: [{ id: DEAD, version: stored?.event.version ?? '' }], reason: 'committed' };
    const key = freshKey();
    const { interventionId: id, outcome } = await intervene(depsFor(open.outbox), ANNA, 'sample', request, key);
    expect(outcome).toBe('applied');
    const entry = { ...entryFor('sample'), id, key, request };
    await options.unsettled.add(entry);
    await settleAll(options);
    expect(await told(entry)).toEqual([]);
    expect(await options.unsettled.list(['sample', 'away', 'broken', 'gone'])).toEqual([]);
    expect([records, errors]).toEqual([['sample'], []]);
  });

  it('wait for their database while it is away, and keep nobody from the others', async () => {
    [records, errors] = [[], []];
    const options = settling();
    const [away, broken, gone, here] = [entryFor('away'), entryFor('broken'), entryFor('gone'), entryFor('sample')];
    for (const entry of [away, broken, gone, here]) await options.unsettled.add(entry);
    const { directory } = options;
    const get: typeof directory.get = (id) => {
      if (id === 'broken') return Promise.reject(new Error('broken'));
      return id === 'away' ? Promise.reject(new Problem('unavailable', 'away')) : directory.get(id);
    };
    await settleAll({ ...options, directory: { ...directory, ids: ['away', 'broken', 'sample'], get } });
    expect((await options.unsettled.list(['sample', 'away', 'broken', 'gone'])).map(({ id }) => id)).toEqual([away.id, broken.id, gone.id]);
    expect(await told(here)).toHaveLength(1);
    expect(errors).toMatchObject([{ message: 'broken' }]);
  });
});
