/** The trend of waiting events: whether there are more of them apart from bursts, and when there will be none. */
import { sql } from 'kysely';
import { fresh, mayGo, ready } from '@/lib/live/reading-sql';
import { figuresIn, type Aggregates, type Past } from '@/lib/live/reading';
import { count, earliest, iso, isState, once, secondsBefore } from '@/lib/outbox/scan/sql-terms';
import { actedWithin } from './acted';
import type { Circumstances } from './circumstances';

interface Queue {
  /** Without what is not due yet. */
  waiting: number;
  /** Creation of the first event that was never tried. */
  oldestFresh: string | null;
  /** Never tried, though events that were created LEFT_SECONDS later are out; and when the first of them was ready. */
  left: number;
  firstLeft: string | null;
  /** Published in the last LATELY_SECONDS. */
  lately: number;
}

export const LATELY_SECONDS = 10;
/** Priorities and several workers let an event be overtaken for less. */
const LEFT_SECONDS = 300;

export const QUEUE: Aggregates<Queue> = {
  owner: 'falling_behind',
  figures(base) {
    const isLeft = sql`(${fresh(base)} and ${ready(base)} < ${once(secondsBefore(base.frontier, LEFT_SECONDS))})`;
    return {
      waiting: count(sql`(${isState(base.state, 'pending', 'retrying')} and ${mayGo(base)})`),
      oldestFresh: iso(earliest(ready(base), fresh(base))),
      left: count(isLeft),
      firstLeft: iso(earliest(ready(base), isLeft)),
      lately: count(sql`(${isState(base.state, 'published')} and ${base.published} >= ${once(secondsBefore(base.now, LATELY_SECONDS))})`),
    };
  },
};

/** Spans in which a trend is searched, in milliseconds, and the parts of each: one of them may be without a reading. */
const SPANS_MS = [25_000, 60_000, 300_000];
const PARTS = 5;
/** The least growth that is not noise: events, and a share of what waited at the start of the span. */
const GROWTH_MIN = 40;
const GROWTH_SHARE = 0.1;
/** Spans from which a forecast is made, in milliseconds: the pace of the moment, and that of the last minutes. */
const PACES_MS = [15_000, 60_000, 180_000];

/** How long so many events take, by the fastest and the slowest of these paces, in events a millisecond; nothing without one. */
export function drainBy(waiting: number, paces: readonly number[]): { fromMs?: number; toMs?: number } {
  const fast = Math.max(0, ...paces);
  // A time in which little came does not show what the relay can do.
  const slow = Math.min(...paces.filter((pace) => pace >= fast / 2));
  return fast === 0 ? {} : { fromMs: Math.round(waiting / fast), toMs: Math.round(waiting / slow) };
}

interface Depth {
  at: number;
  waiting: number;
}

/** What waited at each reading, oldest first; readings that could not count all are left out. */
function depths({ reading, previous }: Circumstances): Depth[] {
  const all: Past[] = [...previous, ...(reading === null ? [] : [reading])];
  // What an operator put back, or took away, is no growth and no pace.
  const from = reading === null ? -1 : all.findLastIndex((past, index) => actedWithin(reading, all[index - 1] ?? past, past));
  return all.slice(Math.max(0, from)).flatMap((past) => {
    const { waiting } = figuresIn(past, QUEUE);
    return waiting === undefined || past.reach.waiting !== 'complete' ? [] : [{ at: Date.parse(past.asOf), waiting }];
  });
}

/** Growth of the queue's minimum over one of the spans: a queue that is emptied between bursts does not grow. null if none was seen. */
export function growthOf(circumstances: Circumstances): { events: number; overMs: number; since: number } | null {
  const points = depths(circumstances);
  const last = points.at(-1);
  if (last === undefined) return null;
  for (const span of SPANS_MS) {
    const parts = Array.from({ length: PARTS }, (_, part) => lowIn(points, last.at - span + (part * span) / PARTS, span / PARTS));
    const lows = parts.filter((low) => low !== null);
    const rising = lows.every((low, index) => index === 0 || low.waiting > (lows[index - 1]?.waiting ?? Infinity));
    const [first, newest] = [lows[0], lows.at(-1)];
    if (!rising || lows.length < PARTS - 1 || first === undefined || newest === undefined) continue;
    const events = newest.waiting - first.waiting;
    if (events >= Math.max(GROWTH_MIN, first.waiting * GROWTH_SHARE)) return { events, overMs: newest.at - first.at, since: first.at };
  }
  return null;
}

/** The fewest that waited within a part of a span, its end included; null without a reading in it. */
function lowIn(points: readonly Depth[], from: number, length: number): Depth | null {
  const within = points.filter(({ at }) => at > from && at <= from + length);
  return within.length === 0 ? null : within.reduce((low, point) => (point.waiting <= low.waiting ? point : low));
}

/** For this long after the peak the pace is random. */
const PACE_MIN_MS = 8_000;

/** In how many milliseconds nothing will wait, by the paces of the last minutes; null if nothing shrinks. `seenMs`: how long it was seen to. */
export function drainOf(circumstances: Circumstances) {
  const points = depths(circumstances);
  const last = points.at(-1);
  if (last === undefined || last.waiting === 0) return null;
  const left = PACES_MS.flatMap((pace) => {
    const start = points.findLast(({ at }) => last.at - at >= pace);
    if (start === undefined || last.at - start.at > pace * 2) return [];
    // From the peak only: events that came before it hide the pace.
    const peak = points.filter(({ at }) => at >= start.at).reduce((high, point) => (point.waiting >= high.waiting ? point : high));
    const seenMs = last.at - peak.at;
    const perMs = (peak.waiting - last.waiting) / seenMs;
    return seenMs >= PACE_MIN_MS && perMs > 0 ? [{ ms: last.waiting / perMs, seenMs }] : [];
  });
  if (left.length === 0) return null;
  const ms = left.map((one) => one.ms);
  // A single pace is less certain than several.
  const margin = left.length === 1 ? 0.25 : 0.1;
  return {
    fromMs: Math.round(Math.min(...ms) * (1 - margin)),
    toMs: Math.round(Math.max(...ms) * (1 + margin)),
    seenMs: Math.max(...left.map((one) => one.seenMs)),
  };
}
