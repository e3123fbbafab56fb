/** Reads what ticks do not: the past, slice by slice from the newest to the oldest, and recent minutes again. */
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import { countOf } from '@/lib/rollup/histogram';
import { HOUR_MINUTES, minutesKeptFrom, type Additions, cellIn, HOW, decodeCell, type Cell, ALL_TYPES, TOUCHED } from '@/lib/rollup/cell';
import { readRollupsAt } from '@/lib/store/rollups';
import type { Store } from '@/lib/store/store';
import { isTimeout, isoOf, microsOf, MINUTE, minuteOf, minutesIn } from './clock';
import { addCells, markWatched } from './collect';
import type { Access } from './method';
import { enter, sumOfCosts, withProvisional, type Progress, type UnreadSpan } from './progress';
import { readCells, setPlanner, type Span, readPastAttempts, countByMinute, eventsIn, type PublishedGroup } from './published-sql';
import { type Session, RECOUNT_MINUTES } from './session';

/** Per slice: the next one is narrower if either is above `most`, wider if both are below `least`. */
const ROWS = { most: 20_000, least: 5_000 };
const TOOK_MS = { most: 500, least: 100 };
const STATEMENT_MS = 4_000;

/** Whether a slice of the past can be read now: the transactions of the newest one have ended, or had `lags.most` to end. */
export function hasBackfill({ progress, choice, horizon }: Session): boolean {
  if (progress === null || choice?.access == null) return false;
  const span = newest(progress);
  return span !== null && horizon.foldableTo(microsOf(progress.lookedAt)) >= microsOf(span.to);
}

const newest = ({ unread }: Progress): UnreadSpan | null => unread.toSorted((a, b) => microsOf(b.to) - microsOf(a.to))[0] ?? null;

/** Runs `read` in one transaction and measures it in milliseconds. Calls `tooMuch` if it ran into its timeout. */
async function timed<T>(outbox: Outbox, access: Access, read: (db: Db) => Promise<T>, tooMuch: () => void) {
  const began = performance.now();
  try {
    const planned = async (db: Db): Promise<T> => {
      await setPlanner(db, outbox, access);
      return read(db);
    };
    const found = await outbox.database.read(planned, { statementMs: STATEMENT_MS });
    return { found, tookMs: performance.now() - began };
  } catch (error) {
    if (isTimeout(error)) tooMuch();
    throw error;
  }
}

/** Reads one slice and adds it to the history; returns how long the read took, in milliseconds. Throws DatabaseFailure, LeaseLost. */
export async function backfill(session: Session, outbox: Outbox, store: Store): Promise<number> {
  const { progress, choice, names, backfillWidth, horizon, lease } = session;
  const span = progress === null ? null : newest(progress);
  if (progress === null || span === null || choice === null || choice.access === null) return 0;
  const { cleanTo } = horizon;
  const edge = minutesKeptFrom(minuteOf(microsOf(progress.lookedAt))) * MINUTE;
  const slice = newestSlice(span, backfillWidth.micros, edge);
  const stepMinutes = slice.to <= edge ? HOUR_MINUTES : 1;
  // Time after `watchedSince` was only not collected in time: it counts into the totals, and an observer that goes on tells its attempts.
  const counts = microsOf(span.from) >= microsOf(progress.watchedSince);
  const { unobservedSince } = span;
  const isTold = counts && unobservedSince === null;
  // What older events tried before the observer ended has been counted.
  const createdFrom = counts && unobservedSince !== null ? microsOf(unobservedSince) : null;
  const readSlice = async (db: Db) => ({
    groups: await readCells(db, outbox, slice, stepMinutes, lease.acted),
    attempts: isTold ? [] : await readPastAttempts(db, outbox, slice, stepMinutes, createdFrom),
  });
  const { found, tookMs } = await timed(outbox, choice.access, readSlice, () => backfillWidth.tooWide());
  const rows = eventsIn(found.groups);
  if (rows > ROWS.most || tookMs > TOOK_MS.most) backfillWidth.tooWide();
  else if (rows < ROWS.least && tookMs < TOOK_MS.least) backfillWidth.narrow();

  const additions: Additions = new Map();
  addCells(additions, found.groups, names, stepMinutes, HOW.backfilled);
  // Entered at the time of publishing: a row does not record when each attempt failed.
  for (const { step, type, failed } of found.attempts)
    for (const series of names.allOf(type)) {
      const cell = cellIn(additions, step * stepMinutes, series);
      cell.failures += failed;
      cell.retries += failed;
    }
  // Minutes that begin in the slice, and the one in which the span begins: each is marked once, however the span is sliced.
  const isFirst = slice.from === microsOf(span.from);
  const begun = minutesIn(slice.from, slice.to).filter((minute) => isFirst || minute * MINUTE >= slice.from);
  markWatched(additions, begun, HOW.backfilled);
  const rest = isFirst ? [] : [{ ...span, to: isoOf(slice.from) }];
  const changed = {
    ...progress,
    unread: progress.unread.flatMap((one) => (one === span ? rest : [one])),
    suspects: stepMinutes === 1 ? withProvisional(progress.suspects, cleanTo, slice) : progress.suspects,
    cost: sumOfCosts(progress.cost, { statements: 4, rows, milliseconds: tookMs }),
  };
  session.progress = await enter(store, lease, progress, changed, { additions, counts });
  return tookMs;
}

/** The newest part of a span, at most `width` wide (microseconds) and not crossing `edge`. Starts on a whole minute unless narrower. */
function newestSlice(span: UnreadSpan, width: number, edge: number): Span {
  const to = microsOf(span.to);
  const wanted = width < MINUTE ? to - width : Math.ceil((to - width) / MINUTE) * MINUTE;
  return { from: Math.max(microsOf(span.from), to > edge ? edge : -Infinity, Math.min(wanted, to - 1)), to };
}

/** Minutes up to this age are recounted each time, or once at this age where that is expensive. */
const LOOK_BACK_MINUTES = 5;
/** With up to this many rows in those minutes they are recounted each time. */
const CHEAP_ROWS = 20_000;
/** If rows of minutes this young are gone, they were purged at about the time they were counted. */
const YOUNG_MINUTES = 2;
/** For this long after late rows were found, all those minutes are recounted each time. */
const WATCHFUL = 15 * MINUTE;
/** Provisional minutes per recount. */
const SUSPECTS_AT_ONCE = 10;

type Booked = (minute: number, series: string) => Cell | null;

/** Recounts recent minutes if that is due; returns the number of late events found. Throws DatabaseFailure, LeaseLost. */
export async function recount(session: Session, outbox: Outbox, store: Store): Promise<number> {
  const { progress, choice, names, lease } = session;
  if (progress === null || choice === null || choice.access === null) return 0;
  const now = microsOf(progress.lookedAt);
  if (now - session.recountedAt < session.timing.recountEvery) return 0;
  // Taken before anything is read: minutes that end before this horizon are complete for the statements below.
  const cleanTo = session.horizon.cleanTo ?? -Infinity;
  const end = minuteOf(microsOf(progress.foldedTo));
  const recent = await recentMinutes(session, store, end, now);
  const due = progress.suspects.filter((minute) => (minute + 1) * MINUTE <= cleanTo).slice(0, SUSPECTS_AT_ONCE);
  const isUnread = (minute: number): boolean =>
    progress.unread.some(({ from, to }) => minuteOf(microsOf(from)) <= minute && minute * MINUTE < microsOf(to));
  const minutes = [...new Set([...recent, ...due])]
    .filter((minute) => minute < end && !isUnread(minute) && minute * MINUTE >= microsOf(progress.countedSince))
    .sort((a, b) => a - b)
    .slice(0, session.recountMinutes);
  session.recountedAt = now;
  if (minutes.length === 0) return 0;
  const rollups = await readRollupsAt(store.db, lease.outbox, 'minute', minutes);
  const cells = new Map(rollups.map(({ atMinute, series, data }) => [`${String(atMinute)} ${series}`, decodeCell(data)]));
  const booked: Booked = (minute, series) => cells.get(`${String(minute)} ${series}`) ?? null;

  let counted = 0;
  const purged: number[] = [];
  const readAgain = async (db: Db): Promise<PublishedGroup[]> => {
    const groups: PublishedGroup[] = [];
    for (const span of runsOf(minutes)) {
      const counts = await countByMinute(db, outbox, span);
      for (const minute of minutesIn(span.from, span.to)) {
        const rows = counts.get(minute) ?? 0;
        const known = booked(minute, ALL_TYPES)?.published ?? 0;
        counted += rows;
        if (rows < known) purged.push(minute);
        const whole = { from: minute * MINUTE, to: (minute + 1) * MINUTE };
        if (rows > known) groups.push(...(await readCells(db, outbox, whole, 1, lease.acted)));
      }
    }
    return groups;
  };
  const fewer = (): void => void (session.recountMinutes = Math.max(1, session.recountMinutes / 2));
  const { found, tookMs } = await timed(outbox, choice.access, readAgain, fewer);
  const additions: Additions = new Map();
  const late = missing(found, names.of.bind(names), booked);
  addCells(additions, late, names);
  for (const minute of purged.filter((one) => one >= end - YOUNG_MINUTES)) cellIn(additions, minute, ALL_TYPES).how |= HOW.purgedYoung;
  session.recountMinutes = Math.min(RECOUNT_MINUTES, session.recountMinutes * 2);
  const settled = due.filter((minute) => minutes.includes(minute));
  const changed = {
    ...progress,
    suspects: progress.suspects.filter((minute) => !settled.includes(minute)),
    cost: sumOfCosts(progress.cost, { statements: 3, rows: counted, milliseconds: tookMs }),
  };
  session.progress = await enter(store, lease, progress, changed, { additions, counts: true, settled });
  session.recountedTo = Math.max(session.recountedTo, ...recent.map((minute) => minute + 1));
  const lateEvents = eventsIn(late);
  if (lateEvents > 0) session.watchfulUntil = now + WATCHFUL;
  return lateEvents;
}

/** The rows that the history lacks, by bucket and type; none where it has more. In a bucket it does not matter which are missing. */
function missing(groups: readonly PublishedGroup[], seriesOf: (type: string | null) => string, booked: Booked): PublishedGroup[] {
  const left = new Map<string, number>();
  const keyed = groups.map((group) => {
    const series = group.touched ? TOUCHED : seriesOf(group.type);
    const key = [group.kind, group.published, group.bucket, series].join(' ');
    left.set(key, (left.get(key) ?? -bookedEvents(booked(group.published, series), group)) + group.events);
    return { key, group };
  });
  return keyed.flatMap(({ key, group }) => {
    const events = Math.min(left.get(key) ?? 0, group.events);
    if (events <= 0) return [];
    left.set(key, (left.get(key) ?? 0) - events);
    const share = events / group.events;
    return [{ ...group, events, latencySumMs: group.latencySumMs * share, negative: Math.round(group.negative * share) }];
  });
}

function bookedEvents(cell: Cell | null, { kind, bucket }: PublishedGroup): number {
  if (cell === null) return 0;
  if (bucket !== null) return cell[kind].get(bucket) ?? 0;
  // A row without a claim time is in no histogram, so it is not missing.
  return kind === 'processing' ? Infinity : cell.published - countOf(cell.latency);
}

/** All recent minutes, or only those that have just reached LOOK_BACK_MINUTES if a recount reads many rows. */
async function recentMinutes(session: Session, store: Store, end: number, now: number): Promise<number[]> {
  const all = Array.from({ length: LOOK_BACK_MINUTES }, (_, index) => end - LOOK_BACK_MINUTES + index);
  if (now < session.watchfulUntil) return all;
  const cells = await readRollupsAt(store.db, session.lease.outbox, 'minute', all);
  const rows = cells.filter(({ series }) => series === ALL_TYPES).reduce((sum, { data }) => sum + decodeCell(data).published, 0);
  if (rows <= CHEAP_ROWS) return all;
  const ofAge = all[0] ?? end;
  const from = Math.max(session.recountedTo === -Infinity ? ofAge : session.recountedTo, ofAge - LOOK_BACK_MINUTES);
  return Array.from({ length: Math.max(0, ofAge + 1 - from) }, (_, index) => from + index);
}

/** Joins adjacent minutes into spans. */
function runsOf(minutes: readonly number[]): Span[] {
  const runs: Span[] = [];
  for (const minute of minutes) {
    const last = runs.at(-1);
    if (last !== undefined && last.to === minute * MINUTE) last.to += MINUTE;
    else runs.push({ from: minute * MINUTE, to: (minute + 1) * MINUTE });
  }
  return runs;
}
