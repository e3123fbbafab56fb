/** Whether events move and the relay is alive, by the table and its earlier readings: a running process may publish nothing. */
import { sql } from 'kysely';
import { due, failing } from '@/lib/live/reading-sql';
import { lastPublishedAt } from '@/lib/figures/throughput';
import { figuresIn, type Aggregates, type Past, type Reading } from '@/lib/live/reading';
import { quantiles } from '@/lib/figures/latency';
import { mergeInto, type Histogram } from '@/lib/rollup/histogram';
import { ALL_TYPES, isSampled, sampledMeanMs, type Cell } from '@/lib/rollup/cell';
import { count, earliest, iso, isState, latest, nullNumber, sum } from '@/lib/outbox/scan/sql-terms';
import { isoOf, laterOf, seenBefore, type Circumstances } from './circumstances';

interface Flow {
  due: number;
  firstDue: string | null;
  frontier: string | null;
  /** Published since the last fold. */
  recent: number;
  pending: number;
  oldest: string | null;
  failing: number;
  tries: number | null;
  tried: string | null;
  touch: number | null;
  touchedAfter: string | null;
  headTouch: number | null;
  headTouchedAfter: string | null;
}

export const FLOW: Aggregates<Flow> = {
  owner: 'relay_stopped',
  figures(base) {
    const { traits, state, created, attempted, attempts, written, touch, headTouch, frontier, publishedLately } = base;
    const waiting = isState(state, 'pending', 'retrying');
    const isDue = due(base);
    return {
      due: count(isDue),
      firstDue: iso(earliest(created, isDue)),
      frontier: iso(frontier),
      recent: count(publishedLately),
      pending: count(isState(state, 'pending')),
      oldest: iso(earliest(created, isState(state, 'pending'))),
      failing: count(failing(base)),
      tries: traits.attempts ? sum(attempts, waiting) : nullNumber,
      tried: iso(latest(attempted, sql`(${failing(base)} or ${isState(state, 'processing', 'dead')})`)),
      touch,
      // Transaction numbers increase: rows written before the touch existed when it happened.
      touchedAfter: iso(latest(created, sql`(${waiting} and ${written} <= ${touch})`)),
      headTouch,
      headTouchedAfter: iso(latest(created, sql`(${waiting} and ${written} <= ${headTouch})`)),
    };
  },
};

interface Standstill {
  /** Since when events have been due without one being published, in milliseconds since the epoch. */
  since: number;
  due: number;
  firstDueAt: string;
  /** When the last event was published, ISO 8601 UTC; null if none is known. */
  lastOutAt: string | null;
  /** That time is from a row; otherwise it is when readings last saw a movement. */
  written: boolean;
  /** An earlier reading saw the same event due, so it is not one that was committed late. */
  confirmed: boolean;
}

/** How old an earlier reading has to be to confirm the current one, and may be at most. */
const CONFIRMED_MS = { fromMs: 8_000, toMs: 60_000 };

/** Since when nothing has moved although it should have; null when nothing is due. */
export function standstill(circumstances: Circumstances): Standstill | null {
  const { reading, previous, now } = circumstances;
  if (reading === null || !reading.traits.createdAt) return null;
  const { traits, reach } = reading;
  const flow = figuresIn(reading, FLOW);
  const confirmed = (name: 'firstDue' | 'oldest'): boolean =>
    seenBefore(circumstances, CONFIRMED_MS, (past) => figuresIn(past, FLOW)[name] === flow[name]);
  if (reach.published === 'complete' || (traits.publishedAt && reach.published === 'cut' && reading.ordered.published)) {
    const { due: events = 0, firstDue: firstDueAt = null } = flow;
    if (events === 0 || firstDueAt === null) return null;
    const lastOutAt = traits.publishedAt ? lastPublishedAt(reading) : isoOf(lastMove(reading, previous));
    const since = laterOf(firstDueAt, lastOutAt);
    return { since, due: events, firstDueAt, lastOutAt, written: traits.publishedAt, confirmed: confirmed('firstDue') };
  }
  // Published rows could not be read: what is left is whether the waiting events move.
  const { pending = 0, oldest = null } = flow;
  const [first] = previous;
  if (pending === 0 || oldest === null || first === undefined || reach.waiting !== 'complete') return null;
  const since = Math.max(Date.parse(oldest), Math.min(now, lastMove(reading, previous) ?? Date.parse(first.asOf)));
  return { since, due: pending, firstDueAt: oldest, lastOutAt: isoOf(since), written: false, confirmed: confirmed('oldest') };
}

/** When an event was last seen to leave between two readings; null if none was. */
const lastMove = (reading: Reading, previous: readonly Past[]): number | null => lastStep(reading, previous, moved);

/** The time of the newest reading that differs from the one before it in this way; null if none does. */
function lastStep(reading: Past, previous: readonly Past[], differs: (before: Past, after: Past) => boolean): number | null {
  const readings = [...previous, reading];
  const step = readings.findLast((after, at) => {
    const before = readings[at - 1];
    return before !== undefined && differs(before, after);
  });
  return step === undefined ? null : Date.parse(step.asOf);
}

function moved(before: Past, after: Past): boolean {
  const [was, is] = [figuresIn(before, FLOW), figuresIn(after, FLOW)];
  // A first waiting event is no movement; a different oldest one is, and so is a newer published one.
  return (
    (is.pending ?? 0) < (was.pending ?? 0) ||
    (was.oldest != null && was.oldest !== is.oldest) ||
    (after.reach.published === 'complete' && is.frontier != null && (was.frontier == null || is.frontier > was.frontier))
  );
}

/** If rows are cut off, different ones may have been counted. */
const triedAgain = (before: Past, after: Past): boolean =>
  before.reach.waiting === 'complete' && after.reach.waiting === 'complete' && grew(before, after, 'tries');

/** Whether this figure rose from one reading to another. */
export function grew(before: Past, after: Past, name: 'touch' | 'headTouch' | 'tries'): boolean {
  const [was, is] = [figuresIn(before, FLOW)[name], figuresIn(after, FLOW)[name]];
  return was != null && is != null && is > was;
}

/** The newest of these times of a reading and of changes between two readings, in milliseconds since the epoch; null if there are none. */
export function signOf(
  { reading, previous }: Circumstances,
  times: readonly ('tried' | 'touchedAfter' | 'headTouchedAfter')[],
  shows: (before: Past, after: Past) => boolean,
): number | null {
  if (reading === null) return null;
  const flow = figuresIn(reading, FLOW);
  const signs = [...times.flatMap((name) => flow[name] ?? []).map((at) => Date.parse(at)), lastStep(reading, previous, shows) ?? []].flat();
  return signs.length === 0 ? null : Math.max(...signs);
}

/** Up to this many failing rows are poison rows; more of them fill a batch. */
export const POISON_ROWS_MAX = 3;

/** How fast this relay usually is, by the last hour. */
export interface Rhythm {
  p50Ms: number | null;
  published: number;
}

/** From the history, else from the published rows of the reading. */
export function rhythmOf({ reading, history }: Circumstances): Rhythm {
  const minutes = (history?.minutes ?? []).filter(({ published }) => published > 0);
  if (minutes.length > 0) {
    // Each minute by itself: a backlog worked off in some of them must not count as the usual pace.
    const medianOf = (cell: Cell): number | null => (isSampled(cell) ? sampledMeanMs(cell) : (quantiles(cell.latency, [0.5])[0] ?? null));
    const medians = minutes.map(medianOf).filter((value) => value !== null);
    const published = minutes.reduce((sum, cell) => sum + cell.published, 0);
    return { p50Ms: medians.sort((a, b) => a - b)[Math.floor(medians.length / 4)] ?? null, published };
  }
  if (reading === null) return { p50Ms: null, published: 0 };
  const latency: Histogram = new Map();
  for (const cells of reading.tail.values()) mergeInto(latency, cells.get(ALL_TYPES)?.latency ?? new Map<number, number>());
  return { p50Ms: quantiles(latency, [0.5])[0] ?? null, published: figuresIn(reading, FLOW).recent ?? 0 };
}

/** A shorter silence is never an alarm: seen once, or confirmed by an earlier reading. */
const PATIENCE_MIN_MS = { once: 60_000, confirmed: 15_000 };
/** A longer silence is always an alarm, however slow the relay usually is. */
const PATIENCE_MAX_MS = 900_000;
/** Patience with a relay whose rhythm is not known: nothing was published in the last hour. */
const PATIENCE_UNKNOWN_MS = 300_000;
/** The median latency of a relay that works in rounds is half a round: four times that is two rounds missed. */
const PATIENCE_PER_MEDIAN = 4;
/** Without times of publishing, the pace of the last hour is used: this many usual gaps without an event. */
const PATIENCE_PER_GAP = 4;

/** How long events may be due before this relay counts as stopped, in ms. If it is seen to try, no usual pace is needed. */
export function silenceLimitMs({ p50Ms, published }: Rhythm, confirmed: boolean, tries = false): number {
  const least = confirmed ? PATIENCE_MIN_MS.confirmed : PATIENCE_MIN_MS.once;
  if (p50Ms === null && published === 0) return tries ? least : PATIENCE_UNKNOWN_MS;
  const usual = p50Ms === null ? (PATIENCE_PER_GAP * 3_600_000) / published : PATIENCE_PER_MEDIAN * p50Ms;
  return Math.min(PATIENCE_MAX_MS, Math.max(least, usual));
}

/** The newest sign that the relay claimed, tried or locked a waiting row, in ms since the epoch; null if the table shows none. */
const aliveAt = (circumstances: Circumstances): number | null =>
  signOf(circumstances, ['tried', 'touchedAfter'], (before, after) => grew(before, after, 'touch') || triedAgain(before, after));

/** Whether that sign is at most `patience` ms old, so that the relay is not stopped. */
export function isAlive(circumstances: Circumstances, patience: number): boolean {
  const at = aliveAt(circumstances);
  return at !== null && circumstances.now - at <= patience;
}
