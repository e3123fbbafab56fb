import { sql } from 'kysely';
import type { Evidence } from '@/lib/shared/verdicts';
import { VERDICT_SECONDS } from '../base';
import { numberOf, numbersOf, textOf, type Past, type Reading } from '../reading';
import { count, earliest, isState, iso, percentiles } from '../spelling';
import type { VerdictRule } from '../verdict';

const OWNER = 'relay_stopped';
/** Quieter than this is never an alarm. */
const PATIENCE_MIN_MS = 60_000;
/** Louder than this is always one, however slow the relay usually is. */
const PATIENCE_MAX_MS = 900_000;
/** Patience with a relay whose rhythm is not known: nothing was published in the last hour. */
const PATIENCE_UNKNOWN_MS = 300_000;
/** A relay that works in rounds publishes after half a round in the middle: four times that is two rounds missed. */
const PATIENCE_PER_MEDIAN = 4;
/** Where no time of publishing is kept, the pace of the last hour has to do: so many usual gaps without an event. */
const PATIENCE_PER_GAP = 4;

/**
 * Events are due and none goes out, for longer than this relay's own rhythm explains. Due are pending events that never
 * failed and were created after everything that has been published: the relay has not come to them yet. An event that
 * was overtaken waits for another reason, and a retrying one for its time.
 */
export const relayStoppedVerdict: VerdictRule = {
  verdict: 'relay_stopped',
  figures({ state, created, latency, frontier, publishedLately }) {
    const due = sql`(${isState(state, 'pending')} and ${created} > coalesce(${frontier}, '-infinity'))`;
    return {
      due: count(due),
      firstDue: iso(earliest(created, due)),
      frontier: iso(frontier),
      recent: count(publishedLately),
      median: percentiles([0.5], latency, sql`${publishedLately} and ${latency} is not null`),
      pending: count(isState(state, 'pending')),
      oldest: iso(earliest(created, isState(state, 'pending'))),
    };
  },
  judge({ reading, previous, now }) {
    if (reading === null || !reading.traits.createdAt) return null;
    const quiet = quietSince(reading, previous, now);
    if (quiet === null) return null;
    const patienceMs = patience(reading);
    if (now - quiet.since <= patienceMs) return null;
    const since = new Date(quiet.since).toISOString();
    return {
      since,
      evidence: [
        quiet.movement,
        { code: 'events_due', values: { count: quiet.due, oldestAt: quiet.firstDueAt, ageMs: now - Date.parse(quiet.firstDueAt) } },
        rhythm(reading, patienceMs),
      ],
    };
  },
};

interface Quiet {
  /** Since when events have been due without one going out, in milliseconds since the epoch. */
  since: number;
  due: number;
  firstDueAt: string;
  movement: Evidence;
}

/** Since when nothing has moved although it should have; null when nothing is due. */
function quietSince(reading: Reading, previous: readonly Past[], now: number): Quiet | null {
  const { traits, reach } = reading;
  if (reach.published === 'complete' || (traits.publishedAt && reach.published === 'cut' && reading.ordered.published)) {
    const due = numberOf(reading, OWNER, 'due') ?? 0;
    const firstDueAt = textOf(reading, OWNER, 'firstDue');
    if (due === 0 || firstDueAt === null) return null;
    const lastAt = traits.publishedAt ? textOf(reading, 'last-published', 'at') : isoOf(lastMove(reading, previous));
    const movement: Evidence = traits.publishedAt
      ? lastAt === null
        ? { code: 'never_published', values: {} }
        : { code: 'nothing_published', values: { lastPublishedAt: lastAt } }
      : { code: 'nothing_moved', values: { sinceAt: lastAt ?? firstDueAt } };
    return { since: Math.max(Date.parse(firstDueAt), lastAt === null ? -Infinity : Date.parse(lastAt)), due, firstDueAt, movement };
  }
  // What was published could not be read: what is left is to watch whether the waiting events move.
  const pending = numberOf(reading, OWNER, 'pending') ?? 0;
  const oldestAt = textOf(reading, OWNER, 'oldest');
  const first = previous[0];
  if (pending === 0 || oldestAt === null || first === undefined || reach.waiting !== 'complete') return null;
  const since = Math.max(Date.parse(oldestAt), Math.min(now, lastMove(reading, previous) ?? Date.parse(first.asOf)));
  return {
    since,
    due: pending,
    firstDueAt: oldestAt,
    movement: { code: 'nothing_moved', values: { sinceAt: new Date(since).toISOString() } },
  };
}

/** When an event was last seen to go out between two readings; null when none was. */
function lastMove(reading: Reading, previous: readonly Past[]): number | null {
  const readings = [...previous, reading];
  for (let at = readings.length - 1; at > 0; at -= 1) {
    const before = readings[at - 1];
    const after = readings[at];
    if (before !== undefined && after !== undefined && moved(before, after)) return Date.parse(after.asOf);
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

function patience(reading: Reading): number {
  const median = medianOf(reading);
  const recent = numberOf(reading, OWNER, 'recent') ?? 0;
  if (median === null && recent === 0) return PATIENCE_UNKNOWN_MS;
  const usual = median === null ? (PATIENCE_PER_GAP * VERDICT_SECONDS * 1_000) / recent : PATIENCE_PER_MEDIAN * median;
  return Math.min(PATIENCE_MAX_MS, Math.max(PATIENCE_MIN_MS, usual));
}

function rhythm(reading: Reading, patienceMs: number): Evidence {
  const p50Ms = medianOf(reading);
  const recent = numberOf(reading, OWNER, 'recent') ?? 0;
  if (p50Ms !== null) return { code: 'usual_rhythm', values: { p50Ms, patienceMs } };
  return recent > 0 ? { code: 'usual_pace', values: { count: recent, patienceMs } } : { code: 'rhythm_unknown', values: { patienceMs } };
}

const medianOf = (reading: Reading): number | null => numbersOf(reading, OWNER, 'median')[0] ?? null;
