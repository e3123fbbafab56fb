import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { depsFor } from '@/fixtures/interventions';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { startCarrier, type Carrier } from './carrier';
import { LOOK_ROWS } from './database-carrier';
import { entriesOfRecord, idMadeAt, plantCarried, plantLine, plantRecords } from '@/fixtures/records';
import { ENGINE_KEYS } from '@/lib/shared/model';

/** Records that were there before. */
const OTHERS = 50_000;
const YEAR_MS = 365 * 86_400_000;
/** What the console promises of every intervention. */
const PROMISE = { timeout: 10_000, interval: 100 };

// Both mostly wait, side by side; the tests of one go one after the other.
describe.each(ENGINE_KEYS)('records in %s', { concurrent: true }, (engine) => {
  const observed = useTestDatabaseOf(engine, (database) => createSample(database, workerStatus, { rows: false }));
  const storeDatabase = useTestDatabase();
  let open: OpenOutbox;
  let store: Store;
  let carrier: Carrier;
  let serial = 0;
  const errors: unknown[] = [];
  const start = (): Carrier =>
    startCarrier({ directory: depsFor(open.outbox).directory, store, onError: (_database, error) => errors.push(error) });
  const now = (): number => Date.now();
  const next = (ms = now()): string => idMadeAt(ms, (serial += 1));
  const spelled = (ms: number): string =>
    new Date(ms)
      .toISOString()
      .replace('T', ' ')
      .replace('Z', engine === 'postgres' ? '+00' : '');
  const oddities = async (id: string) => (await entriesOfRecord(store, id)).map((entry) => entry.oddities);

  beforeAll(async () => {
    open = await openSample(observed, workerStatus);
    expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
    store = openStore(storeDatabase.url);
    await plantCarried(observed, storeDatabase, OTHERS);
    carrier = start();
    await carrier.carryAll();
  });
  beforeEach(() => void (errors.length = 0));
  afterAll(async () => {
    await carrier.stop();
    await Promise.all([open.close(), store.close()]);
  });

  it.sequential.for([
    ['a year ahead', YEAR_MS],
    ['a year back', -YEAR_MS],
    ['hours ahead', 5 * 3_600_000],
    ['hours back', -5 * 3_600_000],
  ] as const)('dated %s arrive within ten seconds, marked, and so does what comes after them', async ([_how, off], { expect }) => {
    const [odd, after] = [next(), next()];
    await plantRecords(observed, [{ id: odd, at: spelled(now() + off) }]);
    await expect.poll(() => oddities(odd), PROMISE).toEqual([['time_off']]);
    await plantRecords(observed, [{ id: after }]);
    await expect.poll(() => oddities(after), PROMISE).toEqual([[]]);
    expect(errors).toEqual([]);
  });

  it.sequential('with ids from a clock that is a year off, in front of and behind more records than one look takes', async ({ expect }) => {
    const many = Array.from({ length: LOOK_ROWS + 10 }, () => ({ id: next(now() + 60_000), lines: 0, at: spelled(now() - 3_600_000) }));
    await plantRecords(observed, many);
    await carrier.carryAll();
    const [ahead, back] = [next(now() + YEAR_MS), next(now() - YEAR_MS)];
    await plantRecords(observed, [{ id: ahead }, { id: back }]);
    await expect.poll(() => oddities(ahead), PROMISE).toEqual([['time_off']]);
    await expect.poll(() => oddities(back), PROMISE).toEqual([['time_off']]);
  });

  it.sequential.for([
    ['a year ahead', YEAR_MS],
    ['a year back', -YEAR_MS],
    ['hours ahead', 5 * 3_600_000],
    ['hours back', -5 * 3_600_000],
  ] as const)(
    'whose id and time are both %s arrive within ten seconds, wherever they lie among 50,000 others',
    async ([how, off], { expect }) => {
      const id = next(now() + off);
      await plantRecords(observed, [{ id, at: spelled(now() + off) }]);
      await expect.poll(() => oddities(id), { ...PROMISE, message: how }).toEqual([[]]);
    },
  );

  it.sequential('from the first second of all ids, and from between two others, arrive within ten seconds', async ({ expect }) => {
    const ids = [idMadeAt(1, 7), '01980000-0003-7000-8000-00000003f7ff', '01980000-0004-7000-8000-000000040ff1'];
    await plantRecords(
      observed,
      ids.map((id) => ({ id, at: '2025-08-01 00:00:00' })),
    );
    await expect.poll(async () => (await Promise.all(ids.map(oddities))).flat(2).length, PROMISE).toBe(3);
  });

  it.sequential('that grow are carried again: the new line arrives, and both are shown as what they are', async ({ expect }) => {
    const id = next();
    await plantRecords(observed, [{ id, lines: 2, open: true }]);
    await expect.poll(() => oddities(id), PROMISE).toEqual([[], []]);
    await plantLine(observed, id, 7);
    await expect.poll(() => oddities(id), PROMISE).toEqual([['record_grew'], ['record_grew'], ['record_grew', 'line_added']]);
    await start().carryAll();
    expect(await oddities(id)).toHaveLength(3);
  });

  it.sequential(
    'of outboxes that are not configured here stay where they are; one without lines has an entry of its own',
    async ({ expect }) => {
      const [others, empty] = [next(), next()];
      await plantRecords(observed, [
        { id: others, outbox: 'elsewhere' },
        { id: empty, lines: 0 },
      ]);
      await carrier.carryAll();
      expect(await entriesOfRecord(store, others)).toEqual([]);
      expect(await entriesOfRecord(store, empty)).toMatchObject([{ eventId: null, outcome: 'none', operation: 'retry' }]);
      expect(carrier.carrying()).toMatchObject([{ lacking: 0, why: null, late: false, completeAt: expect.any(String) as string }]);
    },
  );
});
