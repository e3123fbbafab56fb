/** Reads the rollups: the sum of a span, and a line of steps over it, from as few slices as cover it. */
import { readRollups, type Rollup, type RollupSpan, type Tier } from '@/lib/store/rollups';
import type { StoreDb } from '@/lib/store/store';
import { DAY_MINUTES, HOUR_MINUTES, ALL_TYPES, addCell, decodeCell, emptyCell, encodeCell, type Cell } from '@/lib/rollup/cell';

const WIDTHS: Record<Tier, number> = { minute: 1, hour: HOUR_MINUTES, day: DAY_MINUTES };
const COARSEST_FIRST: readonly Tier[] = ['day', 'hour', 'minute'];

/** Slices of a span in the order of time. */
export type RollupReader = (span: RollupSpan) => Promise<Rollup[]>;

const readerOf = (source: StoreDb | RollupReader): RollupReader =>
  typeof source === 'function' ? source : (span) => readRollups(source, span);

export interface HistorySpan {
  outbox: string;
  /** Whole minutes since the epoch; where only hours are left, an hour that the span cuts through is not in it. */
  fromMinute: number;
  toMinute: number;
  /** One series; all of them when left out. */
  series?: string;
}

export interface SpanSum {
  /** By series. */
  cells: Map<string, Cell>;
  /** Slices whose rows may still be incomplete were among them. */
  provisional: boolean;
  /** Minutes since the epoch at which the first slice begins; null without one. */
  firstMinute: number | null;
  /** Slices read from the store. */
  rows: number;
}

/** Everything that was folded in a span, by series; where one is named, of that and of all types together. */
export async function sumOf(source: StoreDb | RollupReader, span: HistorySpan): Promise<SpanSum> {
  const sum: SpanSum = { cells: new Map(), provisional: false, firstMinute: null, rows: 0 };
  for (const { rollup, width } of await covering(readerOf(source), span, DAY_MINUTES, sum)) {
    const { series, atMinute, provisional } = rollup;
    sum.provisional ||= provisional;
    // A day or an hour that is not known whole is known from some minute on.
    if (series === ALL_TYPES) sum.firstMinute ??= atMinute + width - decodeCell(rollup.data).minutes;
    const cell = sum.cells.get(series) ?? emptyCell();
    addCell(cell, decodeCell(rollup.data));
    sum.cells.set(series, cell);
  }
  return sum;
}

export interface LinePoint {
  cell: Cell;
  provisional: boolean;
}

/**
 * One series over a span by step, `stepMinutes` wide and aligned to the epoch. A step without a point was not watched;
 * one that was watched in part says so by its `minutes`.
 */
export async function lineOf(
  source: StoreDb | RollupReader,
  span: HistorySpan & { series: string; stepMinutes: number },
): Promise<Map<number, LinePoint>> {
  const line = new Map<number, LinePoint>();
  const counted = { rows: 0 };
  for (const { rollup } of await covering(readerOf(source), span, span.stepMinutes, counted)) {
    const step = Math.floor(rollup.atMinute / span.stepMinutes);
    const point = line.get(step) ?? { cell: emptyCell(), provisional: false };
    line.set(step, point);
    point.provisional ||= rollup.provisional;
    const cell = decodeCell(rollup.data);
    // Time that was watched is known of every type, also of one that had no event in it.
    if (rollup.series === span.series) addCell(point.cell, cell);
    else point.cell.minutes += cell.minutes;
  }
  return line;
}

interface Piece {
  rollup: Rollup;
  width: number;
}

/**
 * The slices that make up a span in the order of time: days where they lie in it whole and were summed, then hours, then
 * minutes. With one type's series comes that of all types: it marks what a tier covers, as one type's has slices only where
 * it had events.
 */
async function covering(read: RollupReader, span: HistorySpan, widest: number, counted: { rows: number }): Promise<Piece[]> {
  const wholeDays = widest < DAY_MINUTES ? await daysWatchedWhole(read, span, counted) : [];
  const pieces: Piece[] = [];
  let open: [number, number][] = [[span.fromMinute, span.toMinute]];
  for (const tier of COARSEST_FIRST) {
    const width = WIDTHS[tier];
    if (width > widest) continue;
    const left: [number, number][] = [];
    for (const [from, to] of open) {
      const whole: [number, number] = [Math.ceil(from / width) * width, Math.floor(to / width) * width];
      if (whole[1] <= whole[0]) {
        left.push([from, to]);
        continue;
      }
      const rollups = await slicesIn(read, { ...span, fromMinute: whole[0], toMinute: whole[1] }, tier, wholeDays, counted);
      const covered = new Set(rollups.filter((rollup) => rollup.series === ALL_TYPES).map((rollup) => rollup.atMinute));
      const wanted = rollups.filter((rollup) => covered.has(rollup.atMinute));
      pieces.push(...wanted.map((rollup) => ({ rollup, width })));
      left.push(...uncovered([from, to], [...covered], width));
    }
    open = left;
  }
  return pieces.sort((a, b) => a.rollup.atMinute - b.rollup.atMinute);
}

/** Minutes since the epoch at which the days begin that one day's slice says were watched throughout: its hours need not be asked. */
async function daysWatchedWhole(
  read: RollupReader,
  { outbox, series, fromMinute, toMinute }: HistorySpan,
  counted: { rows: number },
): Promise<number[]> {
  if (series === undefined || series === ALL_TYPES || toMinute - fromMinute < DAY_MINUTES) return [];
  const days = await read({ outbox, series: [ALL_TYPES], tier: 'day', fromMinute, toMinute: toMinute - DAY_MINUTES });
  counted.rows += days.length;
  return days.filter(({ data, provisional }) => !provisional && decodeCell(data).minutes >= DAY_MINUTES).map(({ atMinute }) => atMinute);
}

const WATCHED_HOUR = encodeCell({ ...emptyCell(), minutes: HOUR_MINUTES });

/** The slices of a tier in a span of whole ones, in the order of time; of days that were watched throughout what marks their hours is not read. */
async function slicesIn(
  read: RollupReader,
  { outbox, series, fromMinute, toMinute }: HistorySpan,
  tier: Tier,
  wholeDays: readonly number[],
  counted: { rows: number },
): Promise<Rollup[]> {
  const slices = async (names: string[] | undefined, from: number, to: number): Promise<Rollup[]> => {
    const rollups = await read({ outbox, series: names, tier, fromMinute: from, toMinute: to });
    counted.rows += rollups.length;
    return rollups;
  };
  const known = tier === 'hour' ? wholeDays.filter((day) => day >= fromMinute && day + DAY_MINUTES <= toMinute) : [];
  if (series === undefined || known.length === 0)
    return slices(series === undefined ? undefined : [...new Set([ALL_TYPES, series])], fromMinute, toMinute);
  const found = await slices([series], fromMinute, toMinute);
  for (const [from, to] of uncovered([fromMinute, toMinute], known, DAY_MINUTES)) found.push(...(await slices([ALL_TYPES], from, to)));
  for (const day of known) {
    for (let hour = day; hour < day + DAY_MINUTES; hour += HOUR_MINUTES)
      found.push({ series: ALL_TYPES, atMinute: hour, data: WATCHED_HOUR, provisional: false });
  }
  return found.sort((a, b) => a.atMinute - b.atMinute);
}

/** What is left of a range when these slices, in the order of time, are taken out of it. */
function uncovered([from, to]: [number, number], slices: number[], width: number): [number, number][] {
  const left: [number, number][] = [];
  let at = from;
  for (const slice of slices) {
    if (slice > at) left.push([at, slice]);
    at = Math.max(at, slice + width);
  }
  if (at < to) left.push([at, to]);
  return left;
}
