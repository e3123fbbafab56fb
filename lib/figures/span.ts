import { stepSecondsOf, windowStartMs, type SeriesSpan, type Window } from '@/lib/shared/figures/windows';
import type { Known, UnavailableReason } from '@/lib/shared/figures/measured';
import { type CollectionMethod, countsRows } from '@/lib/shared/figures/collection';
import type { Head } from '@/lib/history/history';
import { backfillProgress } from '@/lib/history/collector/progress';
import type { Summary } from '@/lib/shared/model';
import type { Reading } from '@/lib/live/reading';
import { ALL_TYPES, TOUCHED, cellsBySeries, cellsOfTypes, emptyCell, HOW, isSampled, type Cell, type Slice } from '@/lib/rollup/cell';

export const MINUTE_MS = 60_000;
/** What was folded may end a moment after the reading: no rate is of less time than a second. */
const SECOND_MINUTES = 1 / 60;
/** So much of a span may be unwatched and still be no gap: its edges, and the minute under way. */
const EDGE_MINUTES = 2;
/** So long after the last fold is no gap: history is collected up to a minute late, and a tick may be late too. */
export const NO_GAP_MS = 120_000;

/** The time that figures are computed for, in whole minutes except for its end; a window ends at the reading. */
export interface Span extends Record<'fromMs' | 'toMs' | 'stepSeconds', number> {
  window: Window | null;
  /** It ends now, and includes the minute under way. */
  live: boolean;
}

/** A window up to the reading, or `from` and `to` extended to whole steps. */
export function spanOf(span: SeriesSpan, asOf: string): Span {
  const nowMs = Date.parse(asOf);
  const stepSeconds = stepSecondsOf(span);
  if ('window' in span) return { window: span.window, fromMs: windowStartMs(span.window, nowMs), toMs: nowMs, live: true, stepSeconds };
  const [stepMs, from, to] = [stepSeconds * 1_000, Date.parse(span.from), Date.parse(span.to)];
  const [fromMs, toMs] = [Math.floor(from / stepMs) * stepMs, Math.ceil(to / stepMs) * stepMs];
  return { window: null, fromMs, toMs, live: to >= nowMs, stepSeconds };
}

/** What happened over a span: the rollups before the last fold, and what the reading found after it. */
export interface SpanTotals {
  all: Cell;
  /** Latencies of events that operators changed. */
  touched: Cell;
  byType: ReadonlyMap<string, Cell>;
  method: CollectionMethod;
  /** Without gaps, and without an end that is not known yet. Nobody can tell time before the first row from time whose rows were purged. */
  watchedMinutes: number;
  complete: boolean;
  /** When the part that is known begins, ISO 8601; null if that is where the span begins. */
  since: string | null;
  provisional: boolean;
  /** Part of it was backfilled: what leaves no trace in a row is missing. */
  backfilled: boolean;
  acted: Head['acted'];
}

/** What every figure of a span is computed from. */
export interface MetricInput {
  reading: Reading;
  span: Span;
  /** null while nothing of the span has been collected. */
  totals: SpanTotals | null;
  /** How far reading the past is; null if it has read the whole span, but for its edges. */
  backfill: Summary['backfill'];
}

/** Sums the slices before the head, the head, and what the reading found after it. */
export function metricInput(reading: Reading, span: Span, head: Head | null = null, older: readonly Slice[] = []): MetricInput {
  if (head === null) return { reading, span, totals: null, backfill: null };
  const { method } = head.progress;
  const toMs = Math.min(span.toMs, Date.parse(reading.asOf));
  const [fromMinute, toMinute] = [span.fromMs / MINUTE_MS, toMs / MINUTE_MS];
  const counted = countsRows(method);
  const backfill = unreadMinutes(head, fromMinute, toMinute) > EDGE_MINUTES ? backfillProgress(head.progress) : null;
  const folded = [...older, ...inOrder(head.slices.filter((slice) => isWithin(slice, span)))];
  const unfoldedFrom = unfoldedFromMinute(reading, head);
  const isKnown = knownMinutes(folded, unfoldedFrom);
  // Where rows do not tell the past, the first minute is known from when watching began: of those that wait, as many are from before as it is long.
  const [sinceMinute, begun] = [knownFromMinute(folded), counted ? -Infinity : Date.parse(head.progress.watchedSince) / MINUTE_MS];
  const unseen = Math.floor(begun) === sinceMinute ? begun - sinceMinute : 0;
  const live = liveSlices(reading).filter((slice) => isWithin(slice, span));
  const seenShare = 1 - unseen / Math.min(1, Math.max(unseen, toMinute - sinceMinute));
  const slices = [...folded, ...live.map((slice) => (slice.atMinute === sinceMinute && unseen > 0 ? createdIn(slice, seenShare) : slice))];
  const cells = cellsBySeries(slices.map((slice) => (isKnown(slice.atMinute) ? slice : createdIn(slice, 0))));
  const all = cells.get(ALL_TYPES) ?? emptyCell();
  if (all.minutes === 0) return { reading, span, totals: null, backfill };
  const spanMinutes = (toMs - span.fromMs) / MINUTE_MS;
  // A watch that began in the span leaves its first part out, however short.
  const complete = begun <= fromMinute && spanMinutes - all.minutes <= EDGE_MINUTES;
  // If more was published since the last fold than is read, the span ends with the fold: up to a minute ago on some servers.
  const isCut = counted && reading.reach.published === 'cut';
  const foldedTo = Date.parse(head.progress.foldedTo) / MINUTE_MS;
  const untold = isCut ? Math.max(0, toMinute - Math.max(fromMinute, foldedTo)) : 0;
  // Less than none: the minute under way is folded, and not over.
  const unfolded = unfoldedFrom === Infinity ? 0 : toMinute - Math.max(fromMinute, Math.ceil(foldedTo));
  const watchedMinutes = complete ? spanMinutes - untold : Math.max(SECOND_MINUTES, all.minutes + unfolded - unseen);
  const since = complete || sinceMinute <= fromMinute ? null : new Date((sinceMinute + unseen) * MINUTE_MS).toISOString();
  const sums = { all, touched: cells.get(TOUCHED) ?? emptyCell(), byType: new Map(cellsOfTypes(cells)) };
  const [provisional, backfilled] = [folded.some((slice) => slice.provisional), (all.how & HOW.backfilled) !== 0];
  const totals = { ...sums, method, watchedMinutes, complete, since, provisional, backfilled, acted: head.acted };
  return { reading, span, totals, backfill };
}

function unreadMinutes({ progress }: Head, fromMinute: number, toMinute: number): number {
  return progress.unread.reduce((sum, { from, to }) => {
    const minutes = Math.min(toMinute, Date.parse(to) / MINUTE_MS) - Math.max(fromMinute, Date.parse(from) / MINUTE_MS);
    return sum + Math.max(0, minutes);
  }, 0);
}

/** The minute of the last fold, if the time since is known too: by the rows of the reading, or because it is short. */
function unfoldedFromMinute({ reach, asOf }: Reading, { progress: { method, foldedTo } }: Head): number {
  const [foldedMs, toMs] = [Date.parse(foldedTo), Date.parse(asOf)];
  const isShort = toMs - foldedMs <= NO_GAP_MS;
  const isKnown = !countsRows(method) ? isShort : reach.published === 'complete' || (isShort && reach.published === 'absent');
  return isKnown ? Math.floor(foldedMs / MINUTE_MS) : Infinity;
}

/** Whether a minute was watched or read. Rows that came out later, and rows that wait, tell of creations in others too. */
function knownMinutes(folded: readonly Slice[], unfoldedFrom: number): (minute: number) => boolean {
  const begins = new Map<number, Set<number>>();
  for (const { atMinute, width, cell } of folded) if (cell.minutes > 0) begins.set(width, (begins.get(width) ?? new Set()).add(atMinute));
  return (minute) => minute >= unfoldedFrom || [...begins].some(([width, at]) => at.has(minute - (minute % width)));
}

const createdIn = (slice: Slice, share: number): Slice => ({ ...slice, cell: { ...slice.cell, created: slice.cell.created * share } });

/** A first day or hour that is known in part is known from some minute to its end. */
function knownFromMinute(folded: readonly Slice[]): number {
  const first = folded.find(({ cell }) => cell.minutes > 0);
  return first === undefined ? -Infinity : first.atMinute + first.width - first.cell.minutes;
}

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
export function whyNotPublished({ reading: { traits }, totals, backfill }: MetricInput): UnavailableReason | null {
  // Rows are deleted whether or not the relay has read them from the log.
  if (traits.slots !== null) return 'external_relay';
  if (totals !== null) return null;
  if (backfill !== null) return 'backfilling';
  return traits.publishedState || traits.publishedAt ? 'not_watched' : 'no_published_at';
}

export function countsKnown({ all, method, complete, provisional }: SpanTotals): Known {
  if (isSampled(all) || !countsRows(method)) return 'sampled';
  const uncertain = (all.how & (HOW.statistics | HOW.purgedYoung)) !== 0;
  return complete && !provisional && !uncertain ? 'exact' : 'estimated';
}
