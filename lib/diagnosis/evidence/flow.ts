/** Whether events move and the relay is alive, by the table and its earlier readings: a running process may publish nothing. */
import { sql } from 'kysely';
import { due, failing, isOwn, ready, retryDue } from '@/lib/live/reading-sql';
import { lastPublishedAt } from '@/lib/figures/throughput';
import { actsIn, figuresIn, type Aggregates, type Past, type Reading } from '@/lib/live/reading';
import { quantiles } from '@/lib/figures/latency';
import { mergeInto, type Histogram } from '@/lib/rollup/histogram';
import { ALL_TYPES, isSampled, sampledMeanMs, type Cell } from '@/lib/rollup/cell';
import { count, earliest, iso, isState, latest, nullInstant, nullNumber, once, sum } from '@/lib/outbox/scan/sql-terms';
import { actedWithin } from './acted';
import { laterOf, seenBefore, type Circumstances, type RecentHistory } from './circumstances';

export interface Flow extends Record<'firstDue' | 'frontier' | 'oldest' | 'firstAgain' | Sign, string | null> {
  due: number;
  /** The first that came due after the last one was published, where both times are written. */
  firstNew: string | null;
  /** The highest number that was published. */
  lead: number | null;
  /** Of waiting rows without a creation time: the first ids, so that one that leaves is missed. */
  first: string[] | null;
  /** Published since the last fold. */
  recent: number;
  pending: number;
  failing: number;
  /** To be tried again, and nothing was published since they failed; and from when on the first of them. */
  again: number;
  tries: number | null;
  touch: number | null;
  headTouch: number | null;
}

/** Enough ids to see a relay move through a large backlog. */
const FIRST_IDS = 16;

export const FLOW: Aggregates<Flow> = {
  owner: 'relay_stopped',
  figures(base) {
    const { traits, state, created, attempted, attempts, written, touch, headTouch, frontier, publishedLately, id, serial } = base;
    const waiting = isState(state, 'pending', 'retrying');
    const isDue = due(base);
    const isNew = sql`(${isDue} and ${ready(base)} > case when ${base.nothingOut} then '-infinity' else ${base.lastPublished} end)`;
    const isAgain = sql`(${retryDue(base)} <= ${once(base.now)} and greatest(${ready(base)}, ${attempted}) > coalesce(${base.lastPublished}, '-infinity'))`;
    const first = sql`(select json_agg(f.id) from (select ${id} from base where ${isState(state, 'pending')} order by ${serial}, ${id} limit ${sql.lit(FIRST_IDS)}) as f)`;
    return {
      due: count(isDue),
      firstDue: iso(earliest(ready(base), isDue)),
      firstNew: traits.createdAt ? nullInstant : iso(earliest(ready(base), isNew)),
      frontier: iso(frontier),
      lead: base.lead,
      first: traits.createdAt ? sql`null::json` : first,
      recent: count(publishedLately),
      pending: count(isState(state, 'pending')),
      oldest: iso(earliest(created, isState(state, 'pending'))),
      failing: count(failing(base)),
      again: count(isAgain),
      firstAgain: iso(earliest(retryDue(base), isAgain)),
      tries: traits.attempts ? sum(attempts, waiting) : nullNumber,
      tried: iso(latest(attempted, sql`((${failing(base)} or ${isState(state, 'processing', 'dead')}) and ${isOwn(base)})`)),
      touch,
      // Transaction numbers increase: rows written before the touch existed when it happened.
      touchedAfter: iso(latest(created, sql`(${waiting} and ${written} <= ${touch})`)),
      headTouch,
      headTouchedAfter: iso(latest(created, sql`(${waiting} and ${written} <= ${headTouch})`)),
    };
  },
};

/**
 * `written`: rows say when the last one was published; otherwise readings show when one last moved. `confirmed`: an earlier reading saw the
 * same event due, so it is not one that was committed late. `sure`: otherwise they may be left over for good.
 */
export interface Standstill extends Record<'written' | 'confirmed' | 'sure', boolean> {
  /** Since when events have been due without one being published, in milliseconds since the epoch. */
  since: number;
  /** How it is known that they wait for the relay. */
  how: 'again' | 'created' | 'due_time' | 'key' | 'looks';
  due: number;
  /** When the first of them was created or became due; null where rows have neither time. */
  firstDueAt: string | null;
}

/** How old an earlier reading has to be to confirm the current one, and may be at most. */
const CONFIRMED_MS = { fromMs: 8_000, toMs: 60_000 };

/** Since when nothing has moved although it should have; null when nothing is due. */
export const standstill = (circumstances: Circumstances): Standstill | null => standstills(circumstances).find(({ sure }) => sure) ?? null;

function standstills(circumstances: Circumstances): Standstill[] {
  const { reading } = circumstances;
  if (reading === null) return [];
  const others = reading.traits.createdAt ? timed(circumstances, reading) : untimed(circumstances, reading);
  return [untried(circumstances, reading), others].filter((one) => one !== null);
}

/** Events that failed wait, and for minutes none of them was tried again. */
function untried(circumstances: Circumstances, reading: Reading): Standstill | null {
  const { again: events = 0, firstAgain: firstDueAt = null, tried } = figuresIn(reading, FLOW);
  const areMany = (past: Past): boolean => (figuresIn(past, FLOW).again ?? 0) > LEFT_OVER_MAX;
  const stands = (past: Past): boolean => figuresIn(past, FLOW).firstAgain === firstDueAt && areMany(past) === areMany(reading);
  if (firstDueAt === null || !seenBefore(circumstances, { fromMs: PATIENCE_LOOKS_MS }, stands)) return null;
  const lastOutAt = reading.traits.publishedAt ? lastPublishedAt(reading) : null;
  const since = Math.max(laterOf(firstDueAt, lastOutAt), Date.parse(tried ?? firstDueAt), movedAt(circumstances, reading));
  if (circumstances.now - since <= PATIENCE_LOOKS_MS || isAlive(circumstances, PATIENCE_LOOKS_MS)) return null;
  // A counter of attempts alone does not tell a relay that has stopped from one that waits for an hour between two tries.
  const sure = areMany(reading) && (reading.traits.dueTime || tried != null);
  return { since, how: 'again', due: events, firstDueAt, written: lastOutAt !== null, confirmed: false, sure };
}

/** By times of creation: behind the last event that was published or, where those cannot be read, all that are due. */
function timed(circumstances: Circumstances, reading: Reading): Standstill | null {
  const { previous, now } = circumstances;
  const { traits, reach, ordered } = reading;
  const { due: events = 0, firstDue: firstDueAt = null } = figuresIn(reading, FLOW);
  const seesOut = reach.published === 'complete' || (traits.publishedAt && reach.published === 'cut' && ordered.published);
  const [{ asOf: firstLook } = reading] = previous;
  if (events === 0 || firstDueAt === null || (!seesOut && (firstLook === reading.asOf || reach.waiting !== 'complete'))) return null;
  const written = seesOut && traits.publishedAt;
  const looked = Math.max(movedAt(circumstances, reading), seesOut ? -Infinity : Date.parse(firstLook));
  const since = written ? laterOf(firstDueAt, lastPublishedAt(reading)) : Math.max(Date.parse(firstDueAt), looked);
  // For a while after an action the relay may be busy with what was sent again, unless it had stopped before.
  const told = silenceLimitMs(rhythmOf(circumstances), true);
  const acted = stirring(reading).some((at) => now - at < PATIENCE_MIN_MS.once && at - since <= told);
  const confirmed = !acted && seenBefore(circumstances, CONFIRMED_MS, (past) => figuresIn(past, FLOW).firstDue === firstDueAt);
  return { since, how: 'created', due: events, firstDueAt, written, confirmed, sure: true };
}

/** So many events may be left over for good: with fewer, more have to come and wait as well. */
const LEFT_OVER_MAX = 10;
/** For this long a due time has to be seen to pass: one that is read in the wrong zone is always long past. */
const SEEN_WAITING_MS = 60_000;

/** Without creation times: since the first event was due, or since readings saw none leave. */
function untimed(circumstances: Circumstances, reading: Reading): Standstill | null {
  const { previous, history, now } = circumstances;
  const { due: events = 0, firstDue = null, firstNew = null, lead } = figuresIn(reading, FLOW);
  const movedMs = movedAt(circumstances, reading);
  const looks = [...previous, reading].filter(({ asOf }) => Date.parse(asOf) >= movedMs);
  const [base = reading] = looks;
  const lastOutAt = reading.traits.publishedAt ? lastPublishedAt(reading) : null;
  if (events === 0 || now - Date.parse(base.asOf) < SEEN_WAITING_MS || (lastOutAt === null && leftLately(history))) return null;
  // Behind what has the highest number nothing is left over.
  const known = lead != null;
  const stood = figuresIn(base, FLOW).due ?? 0;
  const came = looks.find((past) => (figuresIn(past, FLOW).due ?? 0) > (known ? 0 : stood));
  const stands = stood > LEFT_OVER_MAX ? base : came;
  const dueSince = known || stood > LEFT_OVER_MAX ? firstDue : firstNew;
  const seenToCome = stands !== undefined && stands !== base;
  const since = laterOf(seenToCome ? stands.asOf : (dueSince ?? base.asOf), lastOutAt);
  const how = firstDue !== null ? 'due_time' : known ? 'key' : 'looks';
  const still = { how, due: events, firstDueAt: firstDue, written: lastOutAt !== null, confirmed: false } as const;
  return { ...still, since: Math.max(since, movedMs), sure: stands !== undefined || dueSince !== null };
}

/** When operators changed what waits, newest first. */
const stirring = (reading: Reading): number[] => actsIn(reading).flatMap(({ at, tidies = false }) => (tidies ? [] : Date.parse(at)));

/** Interventions so close to each other leave no two looks undisturbed between them. */
const BATCH_GAP_MS = 20_000;

/** When a long row of interventions ended, among which no look tells what the relay does; -Infinity without one. */
function endOfBatch(reading: Reading, now: number): number {
  const times = stirring(reading);
  const startOf = (end: number): number => times.reduce((start, at) => (at < start && start - at <= BATCH_GAP_MS ? at : start), end);
  return times.find((end) => now - end < PATIENCE_MAX_MS && end - startOf(end) > SEEN_WAITING_MS) ?? -Infinity;
}

/** Whether an event left within the last two minutes that were watched. */
const leftLately = (history: RecentHistory | null): boolean => (history?.minutes ?? []).slice(-2).some(({ published }) => published > 0);

/** What has waited for long without being a standstill: the relay may have stopped, or may never take it. */
export const unknownStandstill = (circumstances: Circumstances): Standstill | null =>
  standstills(circumstances).find(({ since, sure }) => !sure && circumstances.now - since > PATIENCE_UNKNOWN_MS) ?? null;

/** When an event was last seen to leave between two readings, or may have left unseen; -Infinity if never. */
const movedAt = ({ previous, now }: Circumstances, reading: Reading): number =>
  Math.max(lastStep(reading, previous, moved, goesOut) ?? -Infinity, endOfBatch(reading, now));

type Change = (before: Past, after: Past) => boolean;

/** The time of the newest reading that differs so from the one before it; null if none does. What an operator may have done counts as `sure` only. */
function lastStep(reading: Past, previous: readonly Past[], differs: Change, sure: Change = () => false): number | null {
  const readings = [...previous, reading];
  const step = readings.findLast((after, at) => {
    const before = readings[at - 1];
    if (before === undefined) return false;
    return sure(before, after) || (differs(before, after) && !actedWithin(reading, before, after));
  });
  return step === undefined ? null : Date.parse(step.asOf);
}

function moved(before: Past, after: Past): boolean {
  const [was, is] = [figuresIn(before, FLOW), figuresIn(after, FLOW)];
  // A first waiting event is no movement; a different oldest one is, or a later one that was due first.
  const other = was.oldest != null && was.oldest !== is.oldest;
  const later = was.firstDue != null && (is.firstDue == null || is.firstDue > was.firstDue);
  const fewer = (['pending', 'again'] as const).some((name) => (is[name] ?? 0) < (was[name] ?? 0));
  return fewer || isMissed(was.first ?? [], is.first ?? []) || other || later;
}

/** Whether a newer event was published. */
function goesOut(before: Past, after: Past): boolean {
  const [was, is] = [figuresIn(before, FLOW), figuresIn(after, FLOW)];
  return (
    (is.lead != null && was.lead != null && is.lead > was.lead) ||
    (after.reach.published === 'complete' && is.frontier != null && (was.frontier == null || is.frontier > was.frontier))
  );
}

/** Whether one of the first ids has left. Those that come may have pushed out the last of a full list. */
function isMissed(was: readonly string[], is: readonly string[]): boolean {
  const there = new Set(is);
  const last = was.findLastIndex((id) => there.has(id));
  return was.slice(0, last === -1 || is.length < FIRST_IDS ? was.length : last).some((id) => !there.has(id));
}

/** If rows are cut off, different ones may have been counted. */
const triedAgain = (before: Past, after: Past): boolean =>
  before.reach.waiting === 'complete' && after.reach.waiting === 'complete' && grew(before, after, 'tries');

/** Whether this figure rose from one reading to another. */
export function grew(before: Past, after: Past, name: 'touch' | 'headTouch' | 'tries'): boolean {
  const [was, is] = [figuresIn(before, FLOW)[name], figuresIn(after, FLOW)[name]];
  return was != null && is != null && is > was;
}

type Sign = 'tried' | 'touchedAfter' | 'headTouchedAfter';

/** The newest of these times of a reading and of changes between two readings, in milliseconds since the epoch; null if there are none. */
export function signOf({ reading, previous }: Circumstances, times: readonly Sign[], shows: Change): number | null {
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
  minutes: number;
  /** Without creation times: the longest pause of the last hour. */
  pauseMs: number | null;
}

/** From the history, else from the published rows of the reading. */
export function rhythmOf({ reading, history }: Circumstances): Rhythm {
  const pauseMs = reading?.traits.createdAt === false ? longestPauseMs(history) : null;
  const minutes = (history?.minutes ?? []).filter(({ published }) => published > 0);
  if (minutes.length > 0) {
    // Each minute by itself: a backlog worked off in some of them must not count as the usual pace.
    const medianOf = (cell: Cell): number | null => (isSampled(cell) ? sampledMeanMs(cell) : (quantiles(cell.latency, [0.5])[0] ?? null));
    const medians = minutes.map(medianOf).filter((value) => value !== null);
    const published = minutes.reduce((sum, cell) => sum + cell.published, 0);
    const p50Ms = medians.sort((a, b) => a - b)[Math.floor(medians.length / 4)] ?? null;
    return { p50Ms, published, minutes: history?.minutes.length ?? 0, pauseMs };
  }
  if (reading === null) return { p50Ms: null, published: 0, minutes: 0, pauseMs };
  const latency: Histogram = new Map();
  for (const cells of reading.tail.values()) mergeInto(latency, cells.get(ALL_TYPES)?.latency ?? new Map<number, number>());
  return { p50Ms: quantiles(latency, [0.5])[0] ?? null, published: figuresIn(reading, FLOW).recent ?? 0, minutes: 60, pauseMs };
}

/** The longest run of minutes in which nothing went out, the one that lasts left out; as long as it can have been at most. */
function longestPauseMs(history: RecentHistory | null): number {
  const out = (history?.minutes ?? []).map(({ published }) => published > 0);
  if (out.length < RHYTHM_MINUTES) return PATIENCE_UNKNOWN_MS;
  let [longest, run] = [0, 0];
  for (const some of out.slice(0, out.lastIndexOf(true) + 1)) {
    run = some ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  return (longest + 2) * 60_000;
}

/** A shorter silence is never an alarm: seen once, or confirmed by an earlier reading. */
const PATIENCE_MIN_MS = { once: 60_000, confirmed: 15_000 };
/** A longer silence is always an alarm, however slow the relay usually is. */
const PATIENCE_MAX_MS = 900_000;
/** Standstill that only looks can see has to be over within what is remembered of them. */
const PATIENCE_LOOKS_MS = 600_000;
/** Fewer minutes than this show no rhythm. */
const RHYTHM_MINUTES = 10;
/** Patience with a relay whose rhythm is not known: nothing was published in the last hour. */
const PATIENCE_UNKNOWN_MS = 300_000;
/** The median latency of a relay that works in rounds is half a round: four times that is two rounds missed. */
const PATIENCE_PER_MEDIAN = 4;
/** Without times of publishing, the pace of the last hour is used: this many usual gaps without an event. */
const PATIENCE_PER_GAP = 4;

/** How long events may be due before this relay counts as stopped, in ms. If it is seen to try, no usual pace is needed. */
export function silenceLimitMs({ p50Ms, published, minutes, pauseMs }: Rhythm, confirmed: boolean, tries = false): number {
  const least = confirmed ? PATIENCE_MIN_MS.confirmed : PATIENCE_MIN_MS.once;
  if (p50Ms === null && published === 0) return tries ? Math.max(least, pauseMs ?? 0) : PATIENCE_UNKNOWN_MS;
  const usual = p50Ms === null ? (PATIENCE_PER_GAP * minutes * 60_000) / published : PATIENCE_PER_MEDIAN * p50Ms;
  return Math.min(pauseMs === null ? PATIENCE_MAX_MS : PATIENCE_LOOKS_MS, Math.max(least, usual, pauseMs ?? 0));
}

/** Whether the newest sign that the relay claimed, tried or locked a waiting row is of `after` or later, and at most `patience` ms old: then it is not stopped. */
export function isAlive(circumstances: Circumstances, patience: number, after = -Infinity): boolean {
  const tries = (before: Past, after: Past): boolean => grew(before, after, 'touch') || triedAgain(before, after);
  const at = signOf(circumstances, ['tried', 'touchedAfter'], tries);
  return at !== null && at >= after && circumstances.now - at <= patience;
}
