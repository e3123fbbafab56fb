import { stepSecondsOf, windowStartMs, type SeriesSpan, type Window } from '@/lib/shared/figures/windows';
import type { Known, UnavailableReason } from '@/lib/shared/figures/measured';
import { type CollectionMethod, countsRows } from '@/lib/shared/figures/collection';
import type { Head } from '@/lib/history/history';
import type { Reading } from '@/lib/live/reading';
import { ALL_TYPES, typeOfSeries, cellsBySeries, emptyCell, HOW, isSampled, type Cell, type Slice } from '@/lib/rollup/cell';

const MINUTE_MS = 60_000;
/** So much of a span may be unwatched and still be no gap: its edges, and the minute under way. */
const EDGE_MINUTES = 2;

/** The time that figures are computed for, in whole minutes except for its end; a window ends at the reading. */
export interface Span {
  window: Window | null;
  fromMs: number;
  toMs: number;
  /** It ends now, and includes the minute under way. */
  live: boolean;
  stepSeconds: number;
}

/** A window up to the reading, or `from` and `to` extended to whole steps. */
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

/** What happened over a span: the rollups before the last fold, and what the reading found after it. */
interface SpanTotals {
  all: Cell;
  byType: ReadonlyMap<string, Cell>;
  /** How the collector learns of publishing. */
  method: CollectionMethod;
  /** Without gaps, and without an end that is not known yet. If rows are counted, time before the first row is not a gap. */
  watchedMinutes: number;
  /** The span has no gap. */
  complete: boolean;
  provisional: boolean;
  /** Part of it was backfilled: what leaves no trace in a row is missing. */
  backfilled: boolean;
}

/** What every figure of a span is computed from. */
export interface MetricInput {
  reading: Reading;
  span: Span;
  /** null while nothing of the span has been collected. */
  totals: SpanTotals | null;
}

/** Sums the slices before the head, the head, and what the reading found after it. */
export function metricInput(reading: Reading, span: Span, head: Head | null = null, older: readonly Slice[] = []): MetricInput {
  const nothing = { reading, span, totals: null };
  if (head === null) return nothing;
  const { method, watchedSince, foldedTo } = head.progress;
  const counted = countsRows(method);
  const folded = [...older, ...inOrder(head.slices.filter((slice) => isWithin(slice, span)))];
  // Of unwatched time only what still waits is known, not what came and left.
  const live = liveSlices(reading).filter(
    (slice) => isWithin(slice, span) && (counted || slice.atMinute * MINUTE_MS >= Date.parse(watchedSince)),
  );
  const cells = cellsBySeries([...folded, ...live]);
  const all = cells.get(ALL_TYPES) ?? emptyCell();
  if (all.minutes === 0) return nothing;
  // A first day or hour that is known in part is known from some minute to its end.
  const first = [...older, ...inOrder(head.slices)].find(({ series }) => series === ALL_TYPES);
  const firstMinute = counted && first !== undefined ? first.atMinute + first.width - first.cell.minutes : -Infinity;
  const spanMinutes = (span.toMs - span.fromMs) / MINUTE_MS;
  const gapMinutes = (span.toMs - Math.max(span.fromMs, firstMinute * MINUTE_MS)) / MINUTE_MS - all.minutes;
  const complete = gapMinutes <= EDGE_MINUTES;
  // If more was published since the last fold than is read, the span ends with the fold: up to a minute ago on some servers.
  const isCut = counted && reading.reach.published === 'cut';
  const untoldMs = isCut ? Math.max(0, span.toMs - Math.max(span.fromMs, Date.parse(foldedTo))) : 0;
  const byType = [...cells].map(([series, cell]) => [typeOfSeries(series), cell] as const).filter(isOfType);
  const totals = {
    all,
    method,
    byType: new Map(byType),
    watchedMinutes: complete ? spanMinutes - untoldMs / MINUTE_MS : spanMinutes - gapMinutes,
    complete,
    provisional: folded.some(({ provisional }) => provisional),
    backfilled: (all.how & HOW.backfilled) !== 0,
  };
  return { reading, span, totals };
}

const isOfType = (entry: readonly [string | null, Cell]): entry is readonly [string, Cell] => entry[0] !== null;

/** What is not in the rollups yet, in the order of time: published since the last fold, and created of rows still in the table. */
export function liveSlices({ reach, tail, slices }: Reading): Slice[] {
  const at = (atMinute: number, series: string, cell: Cell): Slice => ({ series, atMinute, width: 1, cell, provisional: false });
  // Its counts miss the rows that were cut off: then the figures end at the last fold.
  const published = reach.published === 'cut' ? [] : [...tail];
  return inOrder([
    ...published.flatMap(([minute, cells]) => [...cells].map(([series, cell]) => at(minute, series, cell))),
    ...[...slices.created].map(([minute, { n }]) => at(minute, ALL_TYPES, { ...emptyCell(), created: n })),
  ]);
}

const inOrder = (slices: readonly Slice[]): Slice[] => [...slices].sort((a, b) => a.atMinute - b.atMinute);

const isWithin = ({ atMinute }: Slice, { fromMs, toMs, live }: Span): boolean =>
  atMinute * MINUTE_MS >= fromMs && (live || atMinute * MINUTE_MS < toMs);
/** Why figures of publishing over the span are unavailable; null if they are available. */
export function whyNotPublished({ reading: { traits }, totals }: MetricInput): UnavailableReason | null {
  // Rows are deleted whether or not the relay has read them from the log.
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
