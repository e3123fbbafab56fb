import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LeaseLost, takeLease, underLease, type Lease } from '@/lib/store/collector-leases';
import { deleteMinutesBefore, readTotals } from '@/lib/store/rollups';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { addTo, bucketOf, countOf } from '@/lib/rollup/histogram';
import { lineOf, sumOf, type RollupReader } from '@/fixtures/collector/rollups';
import { openHistory } from '../history';
import { post, postHours, sumHoursAndDays } from './ledger';
import { cellIn, ALL_TYPES, seriesOfType, type Additions } from '@/lib/rollup/cell';

const database = useTestDatabase();
let store: Store;
let lease: Lease;
beforeAll(async () => {
  await migrateStore(database.url);
  store = openStore(database.url);
});
afterAll(() => store.close());

let slicesRead = 0;
const read: RollupReader = async (span) => {
  const rollups = await openHistory(store).rollups(span);
  slicesRead += rollups.length;
  return rollups;
};

const OUTBOX = 'orders';
/** The first minute of a day. */
const DAY = 20_000 * 1_440;
const TYPE = seriesOfType('order_paid');

beforeEach(async () => {
  await database.query('truncate rollup, collector_lease, collector_state');
  const taken = await takeLease(store.db, OUTBOX, 'test', 60);
  if (taken === null) throw new Error('the lease is free');
  lease = taken;
});

function published(additions: Additions, minute: number, count: number, ms = 100): Additions {
  for (const series of [ALL_TYPES, TYPE]) {
    const cell = cellIn(additions, minute, series);
    cell.published += count;
    addTo(cell.latency, bucketOf(ms), count);
    if (series === ALL_TYPES) cell.minutes = 1;
  }
  return additions;
}

const write = (additions: Additions, { sealedTo = 0, provisional = [] as number[], counts = true } = {}) =>
  underLease(store, lease, (db) => post(db, { outbox: OUTBOX, additions, provisional: new Set(provisional), sealedTo, counts }));

describe('the books', () => {
  it('add to a minute however often it is posted, and watch it once', async () => {
    await write(published(new Map(), DAY, 3));
    await write(published(new Map(), DAY, 4));
    const { cells } = await sumOf(read, { outbox: OUTBOX, fromMinute: DAY, toMinute: DAY + 1 });
    expect(cells.get(ALL_TYPES)).toMatchObject({ published: 7, minutes: 1 });
    expect(cells.get(TYPE)?.published).toBe(7);
  });

  it('tell a span the same from minutes, from hours and from days', async () => {
    const additions: Additions = new Map();
    for (let minute = 0; minute < 2 * 1_440; minute += 7) published(additions, DAY + minute, 1 + (minute % 5), 1 + minute);
    await write(additions);
    const span = { outbox: OUTBOX, fromMinute: DAY + 30, toMinute: DAY + 2 * 1_440 };
    slicesRead = 0;
    const before = await sumOf(read, span);
    const minutesRead = slicesRead;
    await underLease(store, lease, (db) => sumHoursAndDays(db, OUTBOX, DAY, DAY + 2 * 1_440));
    slicesRead = 0;
    const after = await sumOf(read, span);
    expect(after.cells).toEqual(before.cells);
    expect(slicesRead).toBeLessThan(minutesRead / 4);
    const one = await sumOf(read, { ...span, series: TYPE });
    expect(one.cells.get(TYPE)).toEqual(before.cells.get(TYPE));
  });

  it('sum an hour and a day again when a minute in them changes afterwards', async () => {
    await write(published(new Map(), DAY + 5, 1));
    const sealedTo = DAY + 1_440;
    await underLease(store, lease, (db) => sumHoursAndDays(db, OUTBOX, DAY, sealedTo));
    await write(published(new Map(), DAY + 6, 1), { sealedTo });
    for (const tier of ['hour', 'day'] as const) {
      const rows = await openHistory(store).rollups({ outbox: OUTBOX, tier, series: [ALL_TYPES], fromMinute: DAY, toMinute: DAY + 1 });
      expect(rows).toHaveLength(1);
    }
    const { cells } = await sumOf(read, { outbox: OUTBOX, fromMinute: DAY, toMinute: sealedTo });
    expect(cells.get(ALL_TYPES)).toMatchObject({ published: 2, minutes: 2 });
  });

  it('leave out an hour that a span cuts through, where no minute of it is kept', async () => {
    await underLease(store, lease, (db) => postHours(db, OUTBOX, published(new Map(), DAY, 60)));
    const publishedFrom = async (fromMinute: number): Promise<number | undefined> =>
      (await sumOf(read, { outbox: OUTBOX, fromMinute, toMinute: DAY + 120 })).cells.get(ALL_TYPES)?.published;
    expect(await publishedFrom(DAY + 45)).toBeUndefined();
    expect(await publishedFrom(DAY)).toBe(60);
  });

  it('leave time that nobody watched out of a line, and mark minutes that may be incomplete', async () => {
    await write(published(published(new Map(), DAY, 1), DAY + 10, 2), { provisional: [DAY + 10] });
    const line = await lineOf(read, { outbox: OUTBOX, series: ALL_TYPES, fromMinute: DAY, toMinute: DAY + 20, stepMinutes: 5 });
    expect([...line.keys()]).toEqual([DAY / 5, DAY / 5 + 2]);
    expect([...line.values()].map((point) => point.provisional)).toEqual([false, true]);
    const other = await lineOf(read, {
      outbox: OUTBOX,
      series: seriesOfType('never'),
      fromMinute: DAY,
      toMinute: DAY + 20,
      stepMinutes: 5,
    });
    expect([...other.values()].map(({ cell }) => [cell.minutes, cell.published])).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  it('tell of one type by the hour where it had none, from days that were watched throughout and from days with a gap', async () => {
    const additions: Additions = new Map();
    for (let minute = 0; minute < 3 * 1_440; minute += 1) {
      // Hour 30 was not watched; the type has events in every fifth hour.
      if (Math.floor(minute / 60) === 30) continue;
      if (minute % 300 < 60) published(additions, DAY + minute, 2);
      else cellIn(additions, DAY + minute, ALL_TYPES).minutes = 1;
    }
    await write(additions);
    const span = { outbox: OUTBOX, series: TYPE, fromMinute: DAY, toMinute: DAY + 3 * 1_440, stepMinutes: 60 };
    const before = await lineOf(read, span);
    await underLease(store, lease, (db) => sumHoursAndDays(db, OUTBOX, DAY, DAY + 3 * 1_440));
    await underLease(store, lease, (db) => deleteMinutesBefore(db, OUTBOX, DAY + 3 * 1_440));
    const after = await lineOf(read, span);
    expect([...after]).toEqual([...before]);
    expect(after.size).toBe(71);
    expect(after.has(DAY / 60 + 30)).toBe(false);
    expect([...after.values()].every(({ cell }) => cell.minutes === 60)).toBe(true);
    expect([...after.values()].reduce((sum, { cell }) => sum + cell.published, 0)).toBe(14 * 120);
  });

  it('count what was seen since the beginning, history read afterwards left out', async () => {
    await write(published(new Map(), DAY, 2));
    await write(published(new Map(), DAY - 1_000, 5), { counts: false });
    await write(published(new Map(), DAY + 1, 3));
    const [total] = (await readTotals(store.db, OUTBOX)).filter((one) => one.series === ALL_TYPES);
    expect(total).toBeDefined();
    const line = await sumOf(read, { outbox: OUTBOX, fromMinute: DAY - 1_440, toMinute: DAY + 2 });
    expect(countOf(line.cells.get(ALL_TYPES)?.latency ?? new Map())).toBe(10);
  });
});

describe('a lease', () => {
  it('belongs to one process until it ends, and keeps its epoch while renewed', async () => {
    expect(await takeLease(store.db, OUTBOX, 'other', 60)).toBeNull();
    expect(await takeLease(store.db, OUTBOX, 'test', 60)).toEqual(lease);
  });

  it('that has passed on lets its old owner write nothing', async () => {
    await database.query(`update collector_lease set expires_at = now() - interval '1 second'`);
    const next = await takeLease(store.db, OUTBOX, 'other', 60);
    expect(Number(next?.epoch)).toBeGreaterThan(Number(lease.epoch));
    await expect(write(published(new Map(), DAY, 3))).rejects.toBeInstanceOf(LeaseLost);
    expect((await sumOf(read, { outbox: OUTBOX, fromMinute: DAY, toMinute: DAY + 1 })).cells.size).toBe(0);
  });
});
