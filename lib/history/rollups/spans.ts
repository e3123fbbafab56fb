/** Reads the rollups: the sum of a span, and a line of steps over it, from as few slices as cover it. */
import type { Rollup, RollupSpan, Tier } from '@/lib/store/rollups';
import { DAY_MINUTES, HOUR_MINUTES, ALL_TYPES, addCell, decodeCell, emptyCell, encodeCell, type Cell } from '@/lib/rollup/cell';

const WIDTHS: Record<Tier, number> = { minute: 1, hour: HOUR_MINUTES, day: DAY_MINUTES };
const COARSEST_FIRST: readonly Tier[] = ['day', 'hour', 'minute'];

/** Slices of a span in the order of time. */
export type RollupReader = (span: RollupSpan) => Promise<Rollup[]>;

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
}

/** Everything that was collected in a span, by series; where one is named, of that and of all types together. */
export async function sumOf(read: RollupReader, span: HistorySpan): Promise<SpanSum> {
  const sum: SpanSum = { cells: new Map(), provisional: false, firstMinute: null };
  for (const { series, atMinute, data, provisional, width } of await covering(read, span, DAY_MINUTES)) {
    const slice = decodeCell(data);
    sum.provisional ||= provisional;
    // A day or an hour that is not known whole is known from some minute on.
    if (series === ALL_TYPES) sum.firstMinute ??= atMinute + width - slice.minutes;
    const cell = sum.cells.get(series) ?? emptyCell();
    addCell(cell, slice);
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
  read: RollupReader,
  span: HistorySpan & { series: string; stepMinutes: number },
): Promise<Map<number, LinePoint>> {
  const line = new Map<number, LinePoint>();
  for (const { series, atMinute, data, provisional } of await covering(read, span, span.stepMinutes)) {
    const step = Math.floor(atMinute / span.stepMinutes);
    const point = line.get(step) ?? { cell: emptyCell(), provisional: false };
    line.set(step, point);
    point.provisional ||= provisional;
    const cell = decodeCell(data);
    // Time that was watched is known of every type, also of one that had no event in it.
    if (series === span.series) addCell(point.cell, cell);
    else point.cell.minutes += cell.minutes;
  }
  return line;
}

/**
 * The slices that make up a span in the order of time: days where they lie in it whole and were summed, then hours, then
 * minutes. With one type's series comes that of all types: it marks what a tier covers, as one type's has slices only where
 * it had events.
 */
async function covering(read: RollupReader, span: HistorySpan, widest: number): Promise<(Rollup & { width: number })[]> {
  const wholeDays = widest < DAY_MINUTES ? await daysWatchedWhole(read, span) : [];
  const pieces: (Rollup & { width: number })[] = [];
  let open: [number, number][] = [[span.fromMinute, span.toMinute]];
  for (const tier of COARSEST_FIRST) {
    const width = WIDTHS[tier];
    if (width > widest) continue;
    const left: [number, number][] = [];
    for (const [from, to] of open) {
      const [fromMinute, toMinute] = [Math.ceil(from / width) * width, Math.floor(to / width) * width];
      const rollups = toMinute <= fromMinute ? [] : await slicesIn(read, { ...span, fromMinute, toMinute }, tier, wholeDays);
      const covered = new Set(rollups.filter(({ series }) => series === ALL_TYPES).map(({ atMinute }) => atMinute));
      pieces.push(...rollups.filter(({ atMinute }) => covered.has(atMinute)).map((rollup) => ({ ...rollup, width })));
      left.push(...uncovered([from, to], [...covered], width));
    }
    open = left;
  }
  return pieces.sort((a, b) => a.atMinute - b.atMinute);
}

/** Minutes since the epoch at which the days begin that one day's slice says were watched throughout: its hours need not be asked. */
async function daysWatchedWhole(read: RollupReader, { outbox, series, fromMinute, toMinute }: HistorySpan): Promise<number[]> {
  if (series === undefined || series === ALL_TYPES || toMinute - fromMinute < DAY_MINUTES) return [];
  const days = await read({ outbox, series: [ALL_TYPES], tier: 'day', fromMinute, toMinute: toMinute - DAY_MINUTES });
  return days.filter(({ data, provisional }) => !provisional && decodeCell(data).minutes >= DAY_MINUTES).map(({ atMinute }) => atMinute);
}

const WATCHED_HOUR = encodeCell({ ...emptyCell(), minutes: HOUR_MINUTES });

/** The slices of a tier in a span of whole ones, in the order of time; of days that were watched throughout what marks their hours is not read. */
async function slicesIn(
  read: RollupReader,
  { outbox, series, fromMinute, toMinute }: HistorySpan,
  tier: Tier,
  wholeDays: readonly number[],
): Promise<Rollup[]> {
  const known = tier === 'hour' ? wholeDays.filter((day) => day >= fromMinute && day + DAY_MINUTES <= toMinute) : [];
  if (series === undefined || known.length === 0)
    return read({ outbox, series: series === undefined ? undefined : [...new Set([ALL_TYPES, series])], tier, fromMinute, toMinute });
  const found = await read({ outbox, series: [series], tier, fromMinute, toMinute });
  for (const [from, to] of uncovered([fromMinute, toMinute], known, DAY_MINUTES))
    found.push(...(await read({ outbox, series: [ALL_TYPES], tier, fromMinute: from, toMinute: to })));
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
