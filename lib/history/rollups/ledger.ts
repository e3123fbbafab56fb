/**
 * The rollups of one outbox: minutes are written as things happen, hours and days are the sums of what is below them,
 * written once a slice is over and again when something in it changes afterwards. Every function runs inside the
 * caller's transaction, which holds the outbox's lease.
 */
import type { Transaction } from 'kysely';
import { clearProvisional, putRollups, readRollups, readRollupsAt, readTotals, type Rollup, type Tier } from '@/lib/store/rollups';
import type { StoreTables } from '@/lib/store/tables';
import {
  SLICE_MINUTES,
  DAY_MINUTES,
  HOUR_MINUTES,
  sliceOf,
  cellIn,
  addCell,
  decodeCell,
  emptyCell,
  encodeCell,
  type Additions,
  type Cell,
} from '@/lib/rollup/cell';

type Db = Transaction<StoreTables>;

const BELOW = { hour: 'minute', day: 'hour' } as const satisfies Partial<Record<Tier, Tier>>;

export interface Posting {
  outbox: string;
  additions: Additions;
  /** Minutes from which rows may still be missing; all others written here count as complete. */
  provisional: ReadonlySet<number>;
  /** Hours that begin before this minute have been summed; a change below it sums them again. */
  sealedTo: number;
  /** Of hours that begin before this minute no minutes are kept: what is added to those goes into the hour. Whole hours. */
  keptFrom?: number;
  /** Whether it counts into what was seen since the beginning: history read afterwards does not. */
  counts: boolean;
}

/** Adds to minutes, and to everything above them that has been summed already. */
export async function post(db: Db, { outbox, additions, provisional, sealedTo, keptFrom = 0, counts }: Posting): Promise<void> {
  if (additions.size === 0) return;
  if (counts) await addToTotals(db, outbox, additions);
  const minutes = [...additions].filter(([minute]) => minute >= keptFrom);
  await add(db, outbox, 'minute', new Map(minutes), provisional);
  await sumAgain(
    db,
    outbox,
    minutes.map(([minute]) => minute),
    sealedTo,
  );
  await postHours(db, outbox, byHour([...additions].filter(([minute]) => minute < keptFrom)));
}

/** Adds to slices of a tier. */
async function add(db: Db, outbox: string, tier: 'minute' | 'hour', additions: Additions, provisional: ReadonlySet<number>): Promise<void> {
  const slices = [...additions.keys()];
  const there = bySliceAndSeries(await readRollupsAt(db, { outbox, tier, atMinutes: slices }));
  const changed: Rollup[] = [];
  for (const [atMinute, series] of additions) {
    for (const [name, cell] of series) {
      const before = there.get(`${String(atMinute)} ${name}`);
      const total = before === undefined ? emptyCell() : decodeCell(before.data);
      addCell(total, cell);
      // A minute is watched once, however often something is added to it.
      total.minutes = Math.min(tier === 'minute' ? 1 : HOUR_MINUTES, total.minutes);
      const open = tier === 'minute' ? provisional.has(atMinute) : (before?.provisional ?? false);
      changed.push({ series: name, atMinute, data: encodeCell(total), provisional: open });
    }
  }
  await putRollups(db, outbox, tier, changed);
}

function byHour(minutes: [number, Map<string, Cell>][]): Additions {
  const hours: Additions = new Map();
  for (const [minute, series] of minutes.sort(([a], [b]) => a - b)) {
    for (const [name, cell] of series) addCell(cellIn(hours, sliceOf(minute, 'hour'), name), cell);
  }
  return hours;
}

/** Minutes that turned out to be complete: what is above them is told too. */
export async function settle(db: Db, outbox: string, minutes: readonly number[], sealedTo: number): Promise<void> {
  if (minutes.length === 0) return;
  await clearProvisional(db, outbox, minutes);
  await sumAgain(db, outbox, minutes, sealedTo);
}

/** Sums what has been summed before and lies above these minutes. */
async function sumAgain(db: Db, outbox: string, minutes: readonly number[], sealedTo: number): Promise<void> {
  const hours = new Set(minutes.filter((minute) => minute < sealedTo).map((minute) => sliceOf(minute, 'hour')));
  for (const hour of hours) await sum(db, outbox, 'hour', hour);
  for (const day of new Set([...hours].map((hour) => sliceOf(hour, 'day')))) {
    if (day + DAY_MINUTES <= sealedTo) await sum(db, outbox, 'day', day);
  }
}

/** Sums the hours and days that end between two minutes. */
export async function sumHoursAndDays(db: Db, outbox: string, fromMinute: number, toMinute: number): Promise<void> {
  for (const tier of ['hour', 'day'] as const) {
    for (let slice = sliceOf(fromMinute, tier); slice + SLICE_MINUTES[tier] <= toMinute; slice += SLICE_MINUTES[tier])
      await sum(db, outbox, tier, slice);
  }
}

/** Adds to whole hours, of time from before minutes are kept, and sums the days they are of. */
export async function postHours(db: Db, outbox: string, hours: Additions): Promise<void> {
  if (hours.size === 0) return;
  await add(db, outbox, 'hour', hours, new Set());
  for (const day of new Set([...hours.keys()].map((hour) => sliceOf(hour, 'day')))) await sum(db, outbox, 'day', day);
}

async function sum(db: Db, outbox: string, tier: keyof typeof BELOW, slice: number): Promise<void> {
  const parts = await readRollups(db, { outbox, tier: BELOW[tier], fromMinute: slice, toMinute: slice + SLICE_MINUTES[tier] });
  const sums = new Map<string, { cell: Cell; provisional: boolean }>();
  for (const part of parts) {
    const at = sums.get(part.series) ?? { cell: emptyCell(), provisional: false };
    addCell(at.cell, decodeCell(part.data));
    sums.set(part.series, { cell: at.cell, provisional: at.provisional || part.provisional });
  }
  const rollups = [...sums].map(([series, { cell, provisional }]) => ({ series, atMinute: slice, data: encodeCell(cell), provisional }));
  await putRollups(db, outbox, tier, rollups);
}

async function addToTotals(db: Db, outbox: string, additions: Additions): Promise<void> {
  const totals = new Map((await readTotals(db, outbox)).map(({ series, data }) => [series, decodeCell(data)]));
  const touched = new Set<string>();
  for (const [, series] of [...additions].sort(([a], [b]) => a - b)) {
    for (const [name, cell] of series) {
      const total = totals.get(name) ?? emptyCell();
      addCell(total, cell);
      totals.set(name, total);
      touched.add(name);
    }
  }
  const rollups = [...touched].map((series) => ({
    series,
    atMinute: 0,
    data: encodeCell(totals.get(series) ?? emptyCell()),
    provisional: false,
  }));
  await putRollups(db, outbox, 'ever', rollups);
}

const bySliceAndSeries = (rollups: Rollup[]): Map<string, Rollup> =>
  new Map(rollups.map((rollup) => [`${String(rollup.atMinute)} ${rollup.series}`, rollup]));
