/** Minutes at each tick; hours and days, sums of the tier below, when they are over or change. In a transaction that holds the lease. */
import { clearProvisional, putRollups, readRollupsAt, readRollupsOf, type Rollup, type Tier } from '@/lib/store/rollups';
import type { StoreTransaction as Db } from '@/lib/store/store';
import {
  SLICE_MINUTES,
  sliceOf,
  cellIn,
  addCell,
  cellsBySeries,
  decodeCell,
  emptyCell,
  encodeCell,
  type Additions,
} from '@/lib/rollup/cell';

const BELOW = { hour: 'minute', day: 'hour' } as const satisfies Partial<Record<Tier, Tier>>;

export interface Posting {
  outbox: string;
  additions: Additions;
  /** Minutes from which rows may still be missing; all others written here count as complete. */
  provisional: ReadonlySet<number>;
  /** Hours that begin before this minute have been summed; a change below it sums them again. */
  sealedTo: number;
  /** No minutes are kept before this one, the start of an hour: what is added there goes into the hour. */
  keptFrom?: number;
  /** Whether it is added to the totals since the beginning (`ever`): the past from before the first tick is not. */
  counts: boolean;
}

/** Adds to minutes, and to the hours and days that have been summed from them. */
export async function post(db: Db, { outbox, additions, provisional, sealedTo, keptFrom = 0, counts }: Posting): Promise<void> {
  if (additions.size === 0) return;
  const total = summed(additions, () => 0);
  if (counts) await add(db, outbox, 'ever', total);
  const minutes = new Map([...additions].filter(([minute]) => minute >= keptFrom));
  await add(db, outbox, 'minute', minutes, provisional);
  await sumAgain(db, outbox, [...minutes.keys()], sealedTo);
  const older = new Map([...additions].filter(([minute]) => minute < keptFrom));
  const hours = summed(older, (minute) => sliceOf(minute, 'hour'));
  await postHours(db, outbox, hours);
}

/** The most minutes that a slice counts as watched, however often it is added to. */
const MINUTES_IN = { minute: 1, hour: SLICE_MINUTES.hour, ever: Infinity };

async function add(db: Db, outbox: string, tier: keyof typeof MINUTES_IN, added: Additions, unsure?: ReadonlySet<number>): Promise<void> {
  const rollups = await readRollupsAt(db, outbox, tier, [...added.keys()]);
  const there = new Map(rollups.map((rollup) => [`${String(rollup.atMinute)} ${rollup.series}`, rollup]));
  const changed: Rollup[] = [];
  for (const [atMinute, cells] of added) {
    for (const [series, cell] of cells) {
      const before = there.get(`${String(atMinute)} ${series}`);
      const total = before === undefined ? emptyCell() : decodeCell(before.data);
      addCell(total, cell);
      total.minutes = Math.min(MINUTES_IN[tier], total.minutes);
      const provisional = unsure?.has(atMinute) ?? before?.provisional ?? false;
      changed.push({ series, atMinute, data: encodeCell(total), provisional });
    }
  }
  await putRollups(db, outbox, tier, changed);
}

/** Adds up minutes by the slice they are in. */
function summed(minutes: Additions, sliceOfMinute: (minute: number) => number): Additions {
  const sums: Additions = new Map();
  for (const [minute, series] of [...minutes].sort(([a], [b]) => a - b))
    for (const [name, cell] of series) addCell(cellIn(sums, sliceOfMinute(minute), name), cell);
  return sums;
}

/** Marks minutes as complete, and sums the hours and days above them again. */
export async function settle(db: Db, outbox: string, minutes: readonly number[], sealedTo: number): Promise<void> {
  if (minutes.length === 0) return;
  await clearProvisional(db, outbox, minutes);
  await sumAgain(db, outbox, minutes, sealedTo);
}

/** Sums the hours and days above these minutes again, if they have been summed before. */
async function sumAgain(db: Db, outbox: string, minutes: readonly number[], sealedTo: number): Promise<void> {
  const hours = new Set(minutes.filter((minute) => minute < sealedTo).map((minute) => sliceOf(minute, 'hour')));
  for (const hour of hours) await sum(db, outbox, 'hour', hour);
  for (const day of new Set([...hours].map((hour) => sliceOf(hour, 'day')))) {
    if (day + SLICE_MINUTES.day <= sealedTo) await sum(db, outbox, 'day', day);
  }
}

export async function sumHoursAndDays(db: Db, outbox: string, fromMinute: number, toMinute: number): Promise<void> {
  for (const tier of ['hour', 'day'] as const) {
    for (let slice = sliceOf(fromMinute, tier); slice + SLICE_MINUTES[tier] <= toMinute; slice += SLICE_MINUTES[tier])
      await sum(db, outbox, tier, slice);
  }
}

/** Adds to hours of which no minutes are kept, and sums their days again. */
export async function postHours(db: Db, outbox: string, hours: Additions): Promise<void> {
  if (hours.size === 0) return;
  await add(db, outbox, 'hour', hours);
  for (const day of new Set([...hours.keys()].map((hour) => sliceOf(hour, 'day')))) await sum(db, outbox, 'day', day);
}

async function sum(db: Db, outbox: string, tier: keyof typeof BELOW, atMinute: number): Promise<void> {
  const span = { outbox, tier: BELOW[tier], fromMinute: atMinute, toMinute: atMinute + SLICE_MINUTES[tier] };
  const [parts = []] = await readRollupsOf(db, [span]);
  const cells = cellsBySeries(parts.map(({ series, data }) => ({ series, cell: decodeCell(data) })));
  const unsure = new Set(parts.flatMap(({ series, provisional }) => (provisional ? [series] : [])));
  const sums = [...cells].map(([series, cell]) => ({ series, atMinute, data: encodeCell(cell), provisional: unsure.has(series) }));
  await putRollups(db, outbox, tier, sums);
}
