import { stepSecondsOf, windowStartMs, type SeriesSpan, type Window } from '@/lib/shared/figures/windows';
import type { Known, UnavailableReason } from '@/lib/shared/figures/measured';
import { type CollectionMethod, countsRows } from '@/lib/shared/figures/collection';
import type { Head } from '@/lib/history/rollups/history';
import type { Reading } from '@/lib/live/reading';
import { ALL_TYPES, typeOfSeries, addCell, emptyCell, HOW, isSampled, type Cell } from '@/lib/rollup/cell';

const MINUTE_MS = 60_000;
/** The edges of a span and the minute under way may be missing from what counts as watched throughout. */
const EDGE_MINUTES = 2;

/** A stretch of time that figures are of, in whole minutes but for its end; a window ends at the reading. */
export interface Span {
  window: Window | null;
  fromMs: number;
  toMs: number;
  /** Ends now: what has happened of the minute under way is in it whole. */
  live: boolean;
  stepSeconds: number;
}

/** A window up to the time of the reading, or a span of its own with the steps that it touches. */
export function spanOf(span: SeriesSpan, asOf: string): Span {
  const nowMs = Date.parse(asOf);
  const stepSeconds = stepSecondsOf(span);
  if ('window' in span) {
    return { window: span.window, fromMs: windowStartMs(span.window, nowMs), toMs: nowMs, live: true, stepSeconds };
  }
  const [stepMs, fromMs, toMs] = [stepSeconds * 1_000, Date.parse(span.from), Date.parse(span.to)];
  return {
    window: null,
    fromMs: Math.floor(fromMs / stepMs) * stepMs,
    toMs: Math.ceil(toMs / stepMs) * stepMs,
    live: toMs >= nowMs,
    stepSeconds,
  };
}

/** What was folded before the head, added up for a span. */
export interface Older {
  cells: ReadonlyMap<string, Cell>;
  provisional: boolean;
  /** Minutes since the epoch at which the first slice begins; null without one. */
  firstMinute: number | null;
}

/** What happened over a span: the rollups before the last fold, and what the reading found after it. */
export interface SpanTotals {
  all: Cell;
  /** By event type. */
  byType: ReadonlyMap<string, Cell>;
  /** How publishing is learnt of. */
  method: CollectionMethod;
  /**
   * Minutes of the span without its gaps, and without its end where that is not known yet. Before the first slice there is no
   * gap where rows are counted: there is no older row.
   */
  watchedMinutes: number;
  /** The span has no gap. */
  complete: boolean;
  provisional: boolean;
  /** Some of it was read from the rows afterwards: what leaves no trace in a row is not in it. */
  backfilled: boolean;
}

/** What every figure of a span is computed from. */
export interface MetricInput {
  reading: Reading;
  span: Span;
  /** null while nothing of the span has been collected. */
  totals: SpanTotals | null;
}

export function metricInput(reading: Reading, span: Span, head: Head | null, older: Older | null): MetricInput {
  return { reading, span, totals: head === null ? null : totalsOf(reading, span, head, older) };
}

function totalsOf(reading: Reading, span: Span, head: Head, older: Older | null): SpanTotals | null {
  const cells = new Map<string, Cell>();
  const add = (series: string, cell: Cell): void => {
    const sum = cells.get(series) ?? emptyCell();
    addCell(sum, cell);
    cells.set(series, sum);
  };
  let provisional = older?.provisional ?? false;
  const { method, watchedSince } = head.progress;
  const counted = countsRows(method);
  const firstMinute = counted ? (older?.firstMinute ?? Math.min(...head.cells.keys())) : -Infinity;
  for (const [series, cell] of older?.cells ?? []) add(series, cell);
  for (const [minute, series] of inOrder(head.cells)) {
    if (!isWithin(minute, span)) continue;
    for (const [name, { cell, provisional: incomplete }] of series) {
      add(name, cell);
      provisional ||= incomplete;
    }
  }
  for (const [minute, series] of inOrder(liveCells(reading))) {
    // Of time in which nobody watched only what still waits is known, and not what came and went.
    if (!isWithin(minute, span) || (!counted && minute * MINUTE_MS < Date.parse(watchedSince))) continue;
    for (const [name, cell] of series) add(name, cell);
  }
  const all = cells.get(ALL_TYPES) ?? emptyCell();
  if (all.minutes === 0) return null;
  const spanMinutes = (span.toMs - span.fromMs) / MINUTE_MS;
  const gapMinutes = (span.toMs - Math.max(span.fromMs, firstMinute * MINUTE_MS)) / MINUTE_MS - all.minutes;
  const complete = gapMinutes <= EDGE_MINUTES;
  // Where more was published since the last fold than is read, the span ends with the fold: up to a minute back on some servers.
  const isCut = counted && reading.reach.published === 'cut';
  const untoldMs = isCut ? Math.max(0, span.toMs - Math.max(span.fromMs, Date.parse(head.progress.foldedTo))) : 0;
  return {
    all,
    method,
    byType: new Map([...cells].flatMap(([series, cell]) => withType(series, cell))),
    watchedMinutes: complete ? spanMinutes - untoldMs / MINUTE_MS : spanMinutes - gapMinutes,
    complete,
    provisional,
    backfilled: (all.how & HOW.backfilled) !== 0,
  };
}

const withType = (series: string, cell: Cell): [string, Cell][] => {
  const type = typeOfSeries(series);
  return type === null ? [] : [[type, cell]];
};

/** What the reading knows that the rollups do not: published since the last fold, and created of what is still there. */
export function liveCells(reading: Reading): Map<number, Map<string, Cell>> {
  const live = new Map<number, Map<string, Cell>>();
  const at = (minute: number): Map<string, Cell> => {
    const found = live.get(minute) ?? new Map<string, Cell>();
    live.set(minute, found);
    return found;
  };
  // Rows that were cut off are missing from its counts: then the figures end at the last fold.
  if (reading.reach.published !== 'cut')
    for (const [minute, series] of reading.tail) for (const [name, cell] of series) at(minute).set(name, cell);
  for (const [minute, { n }] of reading.slices.created) {
    const series = at(minute);
    series.set(ALL_TYPES, { ...(series.get(ALL_TYPES) ?? emptyCell()), created: n });
  }
  return live;
}

const inOrder = <T>(slices: ReadonlyMap<number, T>): [number, T][] => [...slices].sort(([a], [b]) => a - b);

const isWithin = (minute: number, { fromMs, toMs, live }: Span): boolean =>
  minute * MINUTE_MS >= fromMs && (live || minute * MINUTE_MS < toMs);

/** Why nothing can be said about what was published over the span; null when something can. */
export function whyNotPublished({ reading: { traits }, totals }: MetricInput): UnavailableReason | null {
  // Rows that go are cleared away, whether or not they were read from the log.
  if (traits.slots !== null) return 'external_relay';
  if (totals !== null) return null;
  return traits.publishedState || traits.publishedAt ? 'not_watched' : 'no_published_at';
}

/** How counts over the span are known. */
export function countsKnown({ all, method, complete, provisional }: SpanTotals): Known {
  if (isSampled(all) || !countsRows(method)) return 'sampled';
  const uncertain = (all.how & (HOW.statistics | HOW.purgedYoung)) !== 0;
  return complete && !provisional && !uncertain ? 'exact' : 'estimated';
}
