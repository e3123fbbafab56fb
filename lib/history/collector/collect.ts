/** One tick of an outbox: what was published since the last one is added to the history. */
import type { Outbox } from '@/lib/outbox/outbox';
import type { Store } from '@/lib/store/store';
import { minutesKeptFrom, cellIn, sliceOf, type Additions, ALL_TYPES, TOUCHED, type Cell } from '@/lib/rollup/cell';
import { enter, NO_COST, sumOfCosts, withProvisional, type Progress } from './progress';
import { eventsIn, readCells, setPlanner, type PublishedGroup, type Span, oldestPublished } from './published-sql';
import { isoOf, microsOf, minuteOf, minutesIn, MINUTE } from './clock';
import { countsRows } from '@/lib/shared/figures/collection';
import { chooseMethod, sizeOf } from './method';
import { attemptsObserver } from './observers/attempts';
import { attemptsMemory } from './observers/attempts-count';
import { GAP_MS } from './observers/observer';
import type { SeriesNames, Session } from './session';
import { addTo } from '@/lib/rollup/histogram';

/** The method is chosen again after this long: an index may have been added, or the table has grown. */
const CHOICE_STANDS_MS = 60_000;
/** If the last read is longer ago, or collecting is BEHIND by more, that time is backfilled, so that a tick stays short. */
const UNREACHABLE = 2 * MINUTE;
const BEHIND = 10 * MINUTE;
const STATEMENT_MS = 4_000;
/** Statements of our read-only transactions that read nothing. */
const SETTING_STATEMENTS = 2;

/** Reads one tick and adds it to the history. `behind`: more can be collected at once. Throws DatabaseFailure, LeaseLost. */
export async function collect(session: Session, outbox: Outbox, store: Store, depth: Promise<DepthNow | null>) {
  const { horizon, names, pace, pending } = session;
  const began = performance.now();
  const { at, choice, groups, span, target, past, statements } = await read(session, outbox);
  const tookMs = performance.now() - began;
  const now = isoOf(at);
  const before = session.progress ?? firstProgress(choice.method, now, at - session.timing.lags.settle);
  const rowsCounted = countsRows(choice.method);
  addCells(pending, groups, names);
  markWatched(pending, rowsCounted ? minutesIn(span.from, span.to) : choice.sees ? watchedBy(before, at) : []);
  const sample = await depth;
  if (sample !== null) addDepth(pending, minuteOf(at), sample);

  pace.succeeded(tookMs);
  const countedSince = rowsCounted ? before.countedSince : now;
  const unread =
    past !== null && past.from < past.to
      ? [{ from: isoOf(past.from), to: isoOf(past.to), startedAt: isoOf(past.to), unobservedSince: unobservedSince(session, before, at) }]
      : [];
  const progress: Progress = {
    ...before,
    method: choice.method,
    advice: choice.advice,
    foldedTo: rowsCounted ? isoOf(span.to) : now,
    lookedAt: now,
    countedSince,
    unread: rowsCounted ? [...before.unread, ...unread] : unread,
    suspects: withProvisional(before.suspects, horizon.cleanTo, span).filter(
      // Minutes that are not kept, or were not counted from rows, cannot be recounted.
      (minute) => minute >= minutesKeptFrom(minuteOf(at)) && minute * MINUTE >= microsOf(before.countedSince),
    ),
    everyMs: pace.everyMs,
    slowed: pace.slowed,
    blind: false,
    cost: sumOfCosts(before.cost, session.observed, { statements, rows: eventsIn(groups), milliseconds: tookMs }),
  };
  const memory = session.memoryChanged ? JSON.stringify(session.memory) : undefined;
  session.progress = await enter(store, session.lease, before, progress, { additions: pending, counts: true, memory });
  if (rowsCounted) addTried(session, span, groups);
  session.pending = new Map();
  session.memoryChanged = false;
  session.observed = NO_COST;
  if (rowsCounted && tookMs < 100) session.collectWidth.narrow();
  return { behind: rowsCounted && span.to < target - MINUTE, tookMs };
}

/** `at`: by the observed database's clock, in microseconds. Rows could be collected up to `target`; `past` is to be backfilled, null if none. */
async function read(session: Session, outbox: Outbox) {
  const { progress, horizon, timing } = session;
  return outbox.database.read(
    async (db) => {
      let statements = SETTING_STATEMENTS + 2;
      if (session.choice === null || Date.now() - session.chosenAt > CHOICE_STANDS_MS) {
        session.choice = chooseMethod(outbox, await sizeOf(db, outbox));
        session.chosenAt = Date.now();
        statements += 2;
      }
      const { choice } = session;
      const { access } = choice;
      if (access !== null) await setPlanner(db, outbox, access);
      const at = horizon.see(await outbox.database.engine.transactions(db));
      const settled = at - timing.lags.settle;
      const nothing = { at, choice, span: { from: settled, to: settled }, groups: [], target: settled, past: null };
      if (access === null) return { ...nothing, statements };

      statements += 1;
      const from = progress === null ? -Infinity : microsOf(progress.foldedTo);
      if (progress === null || at - microsOf(progress.lookedAt) > UNREACHABLE || at - from > BEHIND) {
        const past = { from: Math.max(from, at - timing.retention), to: settled };
        // Before the oldest row there is, rows may have been purged: that time is not known, and stays a gap.
        const oldest = await oldestPublished(db, outbox, access, { from: past.from - MINUTE, to: past.to });
        return { ...nothing, past: oldest === null ? null : { from: Math.max(past.from, oldest), to: past.to }, statements };
      }
      const target = Math.max(from, horizon.foldableTo(at));
      const span = { from, to: Math.min(target, from + session.collectWidth.micros) };
      const groups = span.to > span.from ? await readCells(db, outbox, span, 1, session.lease.acted, 'tried') : [];
      return { at, choice, span, groups, target, past: null, statements };
    },
    { statementMs: STATEMENT_MS },
  );
}

function firstProgress(method: Progress['method'], at: string, settledTo: number): Progress {
  const nothing = { unread: [], suspects: [], everyMs: 0, slowed: false, blind: false, cost: NO_COST, advice: null };
  const sealedTo = sliceOf(minuteOf(settledTo), 'hour');
  return { ...nothing, method, foldedTo: isoOf(settledTo), watchedSince: at, lookedAt: at, countedSince: isoOf(0), sealedTo };
}

/** When the attempts observer ticked last, if that was so long before `at` that it starts over; otherwise null. */
function unobservedSince({ memory }: Session, { lookedAt }: Progress, at: number): string | null {
  const tick = attemptsMemory(memory[attemptsObserver.key]?.memory);
  const last = tick === null ? microsOf(lookedAt) : tick.atMs * 1_000;
  return at - last > GAP_MS * 1_000 ? isoOf(last) : null;
}

/** Minutes in which an observed outbox was watched: those since the last tick, or the current one if that was too long ago. */
function watchedBy({ lookedAt }: Progress, at: number): number[] {
  const last = microsOf(lookedAt);
  return minutesIn(at - last > UNREACHABLE ? at : last, at + 1);
}

/** At most this many events are kept for the attempts observer; if there are more, it reads them again. */
const TRIED_ROWS = 50_000;

/** Keeps the events that were tried more than once for the attempts observer. */
function addTried(session: Session, span: Span, groups: readonly PublishedGroup[]): void {
  const before = session.tried?.to === span.from ? session.tried : { from: span.from, rows: [] };
  const rows = [...before.rows, ...groups.flatMap(({ tried }) => tried ?? [])];
  session.tried = { to: span.to, ...(rows.length > TRIED_ROWS ? { from: span.to, rows: [] } : { from: before.from, rows }) };
}

/** Adds groups to the series of their type and of all types. `how` is set on the cells they are added to. */
export function addCells(additions: Additions, groups: readonly PublishedGroup[], names: SeriesNames, stepMinutes = 1, how = 0): void {
  // Biggest groups first: their types get the series that are left.
  for (const group of groups.toSorted((a, b) => b.events - a.events)) {
    for (const series of names.allOf(group.type)) {
      const cell = cellIn(additions, group.published * stepMinutes, series);
      cell.how |= how;
      if (group.kind === 'processing') {
        if (group.bucket !== null) addTo(cell.processing, group.bucket, group.events);
        continue;
      }
      cell.published += group.events;
      if (!group.touched) addLatency(cell, group);
      if (group.created !== null) cellIn(additions, group.created * stepMinutes, series).created += group.events;
    }
    if (group.touched) addLatency(cellIn(additions, group.published * stepMinutes, TOUCHED), group);
  }
}

function addLatency(cell: Cell, { negative, latencySumMs, bucket, events }: PublishedGroup): void {
  cell.negative += negative;
  cell.latencySumMs += latencySumMs;
  if (bucket !== null) addTo(cell.latency, bucket, events);
}

/** Marks minutes as watched throughout: a zero in them means that nothing happened. */
export function markWatched(additions: Additions, minutes: Iterable<number>, how = 0): void {
  for (const minute of minutes) {
    const cell = cellIn(additions, minute, ALL_TYPES);
    cell.minutes = 1;
    cell.how |= how;
  }
}

/** What waits now; a null field is not known. */
export interface DepthNow {
  waiting: number;
  dead: number | null;
  oldestAgeMs: number | null;
}

function addDepth(additions: Additions, minute: number, { waiting, dead, oldestAgeMs }: DepthNow): void {
  const counts = { samples: 1, waitingSum: waiting, waitingMax: waiting, waitingLast: waiting, deadLast: dead ?? -1 };
  const oldestAgeMaxMs = oldestAgeMs === null ? -1 : Math.max(0, Math.round(oldestAgeMs));
  cellIn(additions, minute, ALL_TYPES).depth = { ...counts, oldestAgeMaxMs };
}
