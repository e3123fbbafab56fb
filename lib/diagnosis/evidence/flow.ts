/**
 * Whether events move and whether the relay lives: what several verdicts are judged from. Everything comes from the table
 * and from earlier readings of it, never from the relay: a process can look alive and publish nothing.
 */
import { sql } from 'kysely';
import { due, failing, type Base } from '@/lib/live/reading-sql';
import { numberOf, textOf, type Past, type Reading } from '@/lib/live/reading';
import { mergeInto, quantiles, type Histogram } from '@/lib/rollup/histogram';
import { ALL_TYPES, isSampled, sampledMeanMs, type Cell } from '@/lib/rollup/cell';
import { count, earliest, iso, isState, latest, nullNumber, sum, type Figures } from '@/lib/outbox/scan/sql-terms';
import type { Circumstances } from './circumstances';

/** The rule whose figures these are. */
const OWNER = 'relay_stopped';

/** What the functions below read. */
export function flowFigures(base: Base): Figures {
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
    // Numbers are given in order: what was written before the touch was there when it happened.
    touchedAfter: iso(latest(created, sql`(${waiting} and ${written} <= ${touch})`)),
    headTouch,
    headTouchedAfter: iso(latest(created, sql`(${waiting} and ${written} <= ${headTouch})`)),
  };
}

export interface Standstill {
  /** Since when events have been due without one going out, in milliseconds since the epoch. */
  since: number;
  due: number;
  firstDueAt: string;
  /** When the last event went out, ISO 8601 UTC; null where none ever did as far as is known. */
  lastOutAt: string | null;
  /** That time is written in a row; otherwise it is when readings last saw a movement. */
  written: boolean;
  /** An earlier reading has seen the same event due: it is not one that was committed late. */
  confirmed: boolean;
}

/** A reading at least this long ago confirms one of now, and one older than that is another story. */
const CONFIRMED_AFTER_MS = 8_000;
const CONFIRMED_WITHIN_MS = 60_000;

/** Since when nothing has moved although it should have; null when nothing is due. */
export function standstill({ reading, previous, now }: Circumstances): Standstill | null {
  if (reading === null || !reading.traits.createdAt) return null;
  const { traits, reach } = reading;
  const confirmed = (name: string, value: string): boolean =>
    previous.some((past) => {
      const agoMs = now - Date.parse(past.asOf);
      return agoMs >= CONFIRMED_AFTER_MS && agoMs <= CONFIRMED_WITHIN_MS && textOf(past, OWNER, name) === value;
    });
  if (reach.published === 'complete' || (traits.publishedAt && reach.published === 'cut' && reading.ordered.published)) {
    const events = numberOf(reading, OWNER, 'due') ?? 0;
    const firstDueAt = textOf(reading, OWNER, 'firstDue');
    if (events === 0 || firstDueAt === null) return null;
    const lastOutAt = traits.publishedAt ? textOf(reading, 'last-published', 'at') : isoOf(lastMove(reading, previous));
    const since = Math.max(Date.parse(firstDueAt), lastOutAt === null ? -Infinity : Date.parse(lastOutAt));
    return { since, due: events, firstDueAt, lastOutAt, written: traits.publishedAt, confirmed: confirmed('firstDue', firstDueAt) };
  }
  // What was published could not be read: what is left is to watch whether the waiting events move.
  const pending = numberOf(reading, OWNER, 'pending') ?? 0;
  const oldestAt = textOf(reading, OWNER, 'oldest');
  const first = previous[0];
  if (pending === 0 || oldestAt === null || first === undefined || reach.waiting !== 'complete') return null;
  const since = Math.max(Date.parse(oldestAt), Math.min(now, lastMove(reading, previous) ?? Date.parse(first.asOf)));
  return { since, due: pending, firstDueAt: oldestAt, lastOutAt: isoOf(since), written: false, confirmed: confirmed('oldest', oldestAt) };
}

/** When an event was last seen to go out between two readings; null when none was. */
function lastMove(reading: Reading, previous: readonly Past[]): number | null {
  return lastStep(reading, previous, moved);
}

/** The newest of the readings that differs from the one before it in this way. */
function lastStep(reading: Past, previous: readonly Past[], differs: (before: Past, after: Past) => boolean): number | null {
  const readings = [...previous, reading];
  for (let at = readings.length - 1; at > 0; at -= 1) {
    const before = readings[at - 1];
    const after = readings[at];
    if (before !== undefined && after !== undefined && differs(before, after)) return Date.parse(after.asOf);
  }
  return null;
}

function moved(before: Past, after: Past): boolean {
  const changed = (name: string): boolean => textOf(before, OWNER, name) !== textOf(after, OWNER, name);
  const fell = (numberOf(after, OWNER, 'pending') ?? 0) < (numberOf(before, OWNER, 'pending') ?? 0);
  // A first event to wait is no movement; another oldest one is, as is another newest published one.
  return (
    fell ||
    (textOf(before, OWNER, 'oldest') !== null && changed('oldest')) ||
    (after.reach.published === 'complete' && later(textOf(before, OWNER, 'frontier'), textOf(after, OWNER, 'frontier')))
  );
}

const later = (before: string | null, after: string | null): boolean => after !== null && (before === null || after > before);
const isoOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

/**
 * When the relay last gave a sign of life other than an event going out: a claim, a counted attempt, or a lock on a waiting
 * row. In milliseconds since the epoch, at the latest: it may have been later. Null when the table shows none.
 */
export function aliveAt(circumstances: Circumstances): number | null {
  return signOf(circumstances, ['tried', 'touchedAfter'], (before, after) => grew(before, after, 'touch') || triedAgain(before, after));
}

/** The same for the oldest waiting event alone: when it was last taken. */
export function headTakenAt(circumstances: Circumstances): number | null {
  return signOf(circumstances, ['headTouchedAfter'], (before, after) => {
    const touched = grew(before, after, 'headTouch') && textOf(before, OWNER, 'oldest') === textOf(after, OWNER, 'oldest');
    return touched || headTriedAgain(headOf(before), headOf(after));
  });
}

/** Of rows cut off, some may have come and others gone. */
const triedAgain = (before: Past, after: Past): boolean =>
  before.reach.waiting === 'complete' && after.reach.waiting === 'complete' && grew(before, after, 'tries');

interface HeadTries {
  at: string | null;
  attempts: number | null;
}

const headOf = (past: Past): HeadTries | null => (past.figures.poison_row?.head ?? null) as HeadTries | null;
const headTriedAgain = (before: HeadTries | null, after: HeadTries | null): boolean =>
  before?.at != null && before.at === after?.at && (after.attempts ?? 0) > (before.attempts ?? 0);

function grew(before: Past, after: Past, name: string): boolean {
  const [was, is] = [numberOf(before, OWNER, name), numberOf(after, OWNER, name)];
  return was !== null && is !== null && is > was;
}

function signOf(
  { reading, previous }: Circumstances,
  times: readonly string[],
  shows: (before: Past, after: Past) => boolean,
): number | null {
  if (reading === null) return null;
  const grown = lastStep(reading, previous, shows);
  const told = times.map((name) => textOf(reading, OWNER, name)).filter((at) => at !== null);
  const signs = [...told.map((at) => Date.parse(at)), ...(grown === null ? [] : [grown])];
  return signs.length === 0 ? null : Math.max(...signs);
}

/** So many failing rows may be one trouble each; more of them fill a batch. */
export const POISON_ROWS_MAX = 3;

export const failingCount = (past: Past): number => numberOf(past, OWNER, 'failing') ?? 0;

/** How fast this relay usually is; both from the last hour. */
export interface Rhythm {
  p50Ms: number | null;
  published: number;
}

/** From what was collected, else from the published rows that the reading has. */
export function rhythmOf({ reading, history }: Circumstances): Rhythm {
  const minutes = (history?.minutes ?? []).filter(({ published }) => published > 0);
  if (minutes.length > 0) {
    // Each minute by itself: a backlog that was worked off in some of them must not pass for the usual pace.
    const medianOf = (cell: Cell): number | null => (isSampled(cell) ? sampledMeanMs(cell) : (quantiles(cell.latency, [0.5])[0] ?? null));
    const medians = minutes.map(medianOf).filter((value) => value !== null);
    const published = minutes.reduce((sum, cell) => sum + cell.published, 0);
    return { p50Ms: medians.sort((a, b) => a - b)[Math.floor(medians.length / 4)] ?? null, published };
  }
  if (reading === null) return { p50Ms: null, published: 0 };
  const latency: Histogram = new Map();
  for (const cells of reading.tail.values()) mergeInto(latency, cells.get(ALL_TYPES)?.latency ?? new Map<number, number>());
  return { p50Ms: quantiles(latency, [0.5])[0] ?? null, published: numberOf(reading, OWNER, 'recent') ?? 0 };
}

/** Quieter than this is never an alarm: once seen, and confirmed by an earlier reading. */
const PATIENCE_MIN_MS = { once: 60_000, confirmed: 15_000 };
/** Louder than this is always one, however slow the relay usually is. */
const PATIENCE_MAX_MS = 900_000;
/** Patience with a relay whose rhythm is not known: nothing was published in the last hour. */
const PATIENCE_UNKNOWN_MS = 300_000;
/** A relay that works in rounds publishes after half a round in the middle: four times that is two rounds missed. */
const PATIENCE_PER_MEDIAN = 4;
/** Where no time of publishing is kept, the pace of the last hour has to do: so many usual gaps without an event. */
const PATIENCE_PER_GAP = 4;

/**
 * How long events may be due before this relay counts as standing still, in milliseconds. One that is seen to try needs no
 * usual pace to be judged by.
 */
export function silenceLimitMs({ p50Ms, published }: Rhythm, confirmed: boolean, tries = false): number {
  const least = confirmed ? PATIENCE_MIN_MS.confirmed : PATIENCE_MIN_MS.once;
  if (p50Ms === null && published === 0) return tries ? least : PATIENCE_UNKNOWN_MS;
  const usual = p50Ms === null ? (PATIENCE_PER_GAP * 3_600_000) / published : PATIENCE_PER_MEDIAN * p50Ms;
  return Math.min(PATIENCE_MAX_MS, Math.max(least, usual));
}

/** Whether the relay gave a sign of life so lately that it cannot be called stopped. */
export function isAlive(circumstances: Circumstances, patience: number): boolean {
  const at = aliveAt(circumstances);
  return at !== null && circumstances.now - at <= patience;
}
