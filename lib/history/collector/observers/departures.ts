import { addTo, bucketOf } from '@/lib/rollup/histogram';
import { cellIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import { HOW, type Cell } from '@/lib/rollup/cell';
import { spread, type Bounds, type Prior } from './spread';
import { tally } from './tally';

/** Events of one kind that nobody saw are placed in this many lots: each lies elsewhere below the tick. */
const LOTS = 200;
/** A time of publishing that a row tells is believed this far back. */
const TOLD_MS = 3_600_000;

/** An event that was published since the last look. */
export interface Departure {
  type: string | null;
  createdMs: number | null;
  /** The row's own time; null where it has none. */
  publishedMs: number | null;
  /** When it was seen open last, or could have been: it was published after that. */
  openMs: number;
  /** How long it was seen waiting, for the mean; null where that is not known, and the middle of its bounds is taken. */
  waitedMs: number | null;
}

/** What happened since the last look. */
export interface Happened {
  departures: readonly Departure[];
  /** Events that were published and that nobody saw; `latencies` where they are known to have waited less than a tick. */
  unseen: { events: number; latencies: boolean };
}

export interface Tellings {
  atMs: number;
  /** The usual time between two looks. */
  resolutionMs: number;
  /** What is remembered of where latencies lie, and how many have been placed. */
  prior: Prior;
  drawn: number;
}

/** Adds what was published to the books, with latencies as near as looks tell them. */
export function tell(
  additions: Additions,
  { departures, unseen }: Happened,
  { atMs, resolutionMs, prior, drawn }: Tellings,
): Pick<Tellings, 'prior' | 'drawn'> {
  for (const departure of departures) count(additions, departure, atMs);
  const bounded = departures.flatMap((departure) => {
    const bounds = boundsOf(departure, atMs);
    return bounds === null ? [] : [{ departure, bounds }];
  });
  const lots = lotsOf(unseen.latencies && resolutionMs > 0 ? unseen.events : 0, resolutionMs);
  // All at once: each lies where all together say.
  const placed = spread(prior, drawn, [...bounded.map(({ bounds }) => bounds), ...lots]);
  for (const [index, { departure, bounds }] of bounded.entries()) {
    const waitedMs = departure.waitedMs ?? (bounds.fromMs + bounds.toMs) / 2;
    tally(additions, atMs, departure.type, (cell) => {
      addLatency(cell, placed.placesMs[index] ?? bounds.toMs, waitedMs);
      cell.resolutionMs = Math.max(cell.resolutionMs, resolutionMs);
    });
  }
  if (unseen.events > 0) {
    // Nobody knows their types: they are in the sum of all types alone.
    const cell = cellIn(additions, Math.floor(atMs / 60_000), ALL_TYPES);
    cell.how |= HOW.statistics | (lots.length > 0 ? HOW.sampled : 0);
    cell.published += unseen.events;
    cell.created += unseen.events;
    if (lots.length > 0) cell.resolutionMs = Math.max(cell.resolutionMs, resolutionMs);
    // Nothing for the mean: those that were seen make up for them.
    for (const [lot, { events }] of lots.entries()) addTo(cell.latency, bucketOf(placed.placesMs[bounded.length + lot] ?? 0), events);
  }
  return { prior: placed.prior, drawn: drawn + bounded.length + lots.length };
}

function count(additions: Additions, { type, createdMs, publishedMs }: Departure, atMs: number): void {
  const isTold = publishedMs !== null && publishedMs <= atMs && publishedMs > atMs - TOLD_MS;
  tally(additions, isTold ? publishedMs : atMs, type, (cell) => {
    cell.published += 1;
    if (publishedMs === null) cell.how |= HOW.sampled;
    if (createdMs === null) return;
    const lastedMs = (publishedMs ?? atMs) - createdMs;
    // Clocks that disagree: published before it was created.
    if (lastedMs < 0) cell.negative += 1;
    if (publishedMs !== null || lastedMs <= 0) addLatency(cell, lastedMs, lastedMs);
  });
  tally(additions, Math.min(createdMs ?? atMs, atMs), type, (cell) => void (cell.created += 1));
}

/** Between which bounds its latency lies; null where its row tells it, or nothing does. */
function boundsOf({ createdMs, publishedMs, openMs }: Departure, atMs: number): Bounds | null {
  if (publishedMs !== null || createdMs === null || atMs <= createdMs) return null;
  const toMs = atMs - createdMs;
  return { fromMs: Math.min(Math.max(0, openMs - createdMs), toMs - 0.001), toMs, events: 1, unseen: false };
}

function lotsOf(events: number, resolutionMs: number): Bounds[] {
  const lots = Math.min(events, LOTS);
  return Array.from({ length: lots }, (_, lot) => ({
    fromMs: 0,
    toMs: resolutionMs,
    events: Math.floor(events / lots) + (lot < events % lots ? 1 : 0),
    unseen: true,
  }));
}

function addLatency(cell: Cell, latencyMs: number, forMeanMs: number): void {
  addTo(cell.latency, bucketOf(latencyMs));
  cell.latencySumMs += Math.max(0, forMeanMs);
}
