/** One tick of an outbox: what was published since the last one goes into the history. */
import type { Outbox } from '@/lib/outbox/outbox';
import type { Store } from '@/lib/store/store';
import { minutesKeptFrom, cellIn, sliceOf, type Additions, ALL_TYPES } from '@/lib/rollup/cell';
import { enter, NO_COST, sumOfCosts, withProvisional, type Progress } from './progress';
import { eventsIn, readCells, applyPlannerSettings, type PublishedGroup, type Span, oldestPublished } from './published-sql';
import { isoOf, microsOf, minuteOf, minutesIn, MINUTE } from './clock';
import { countsRows } from '@/lib/shared/figures/collection';
import { chooseMethod, sizeOf, type Choice } from './method';
import type { SeriesNames, Session } from './session';
import { addTo } from '@/lib/rollup/histogram';

/** An index may be added, a table may grow: how an outbox is collected is asked again after this long. */
const CHOICE_STANDS_MS = 60_000;
/** Not read for this long: what was published meanwhile is read like the past, so that a tick stays short. */
const UNREACHABLE = 2 * MINUTE;
const BEHIND = 10 * MINUTE;
const STATEMENT_MS = 4_000;
/** Statements that a read-only transaction of ours has besides those that read. */
const SETTING_STATEMENTS = 2;

/** Reads, and enters what was read; answers whether rows are left that could be collected at once. Throws DatabaseFailure, LeaseLost. */
export async function collect(
  session: Session,
  outbox: Outbox,
  store: Store,
  depth: Promise<DepthNow | null>,
): Promise<{ behind: boolean; tookMs: number }> {
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
  const unread = past !== null && past.from < past.to ? [{ from: isoOf(past.from), to: isoOf(past.to), startedAt: isoOf(past.to) }] : [];
  const progress: Progress = {
    ...before,
    method: choice.method,
    advice: choice.advice,
    foldedTo: rowsCounted ? isoOf(span.to) : now,
    lookedAt: now,
    countedSince,
    unread: rowsCounted ? [...before.unread, ...unread] : unread,
    suspects: withProvisional(before.suspects, horizon.cleanTo, span).filter(
      // Minutes that are no longer kept, or that were not counted from rows, cannot be recounted.
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

interface Found {
  /** By the observed database's clock, in microseconds. */
  at: number;
  choice: Choice;
  span: Span;
  groups: PublishedGroup[];
  /** Up to where rows could have been collected. */
  target: number;
  /** Where the past that is still to be read begins and ends; null when nothing new is to be read. */
  past: Span | null;
  statements: number;
}

async function read(session: Session, outbox: Outbox): Promise<Found> {
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
      if (access !== null) await applyPlannerSettings(db, outbox, access);
      const at = horizon.see(await outbox.database.engine.transactions(db));
      const settled = at - timing.lags.settle;
      const nothing = { at, choice, span: { from: settled, to: settled }, groups: [], target: settled, past: null };
      if (access === null) return { ...nothing, statements };

      statements += 1;
      const from = progress === null ? -Infinity : microsOf(progress.foldedTo);
      if (progress === null || at - microsOf(progress.lookedAt) > UNREACHABLE || at - from > BEHIND) {
        const past = { from: Math.max(from, at - timing.retention), to: settled };
        // Rows older than the oldest there is may have been purged: what was published then is not known, and stays a gap.
        const oldest = await oldestPublished(db, outbox, access, { from: past.from - MINUTE, to: past.to });
        return { ...nothing, past: oldest === null ? null : { from: Math.max(past.from, oldest), to: past.to }, statements };
      }
      const target = Math.max(from, horizon.foldableTo(at));
      const span = { from, to: Math.min(target, from + session.collectWidth.micros) };
      const groups = span.to > span.from ? await readCells(db, outbox, span, 1, 'tried') : [];
      return { at, choice, span, groups, target, past: null, statements };
    },
    { statementMs: STATEMENT_MS },
  );
}

function firstProgress(method: Progress['method'], at: string, settledTo: number): Progress {
  return {
    method,
    foldedTo: isoOf(settledTo),
    watchedSince: at,
    lookedAt: at,
    countedSince: '1970-01-01T00:00:00.000000Z',
    unread: [],
    suspects: [],
    sealedTo: sliceOf(minuteOf(settledTo), 'hour'),
    everyMs: 0,
    slowed: false,
    blind: false,
    cost: NO_COST,
    advice: null,
  };
}

/** Minutes an outbox was watched in that is observed: those since the last tick, unless that was too long ago. */
function watchedBy({ lookedAt }: Progress, at: number): number[] {
  const last = microsOf(lookedAt);
  return minutesIn(at - last > UNREACHABLE ? at : last, at + 1);
}

/** So many events that were tried more than once wait for whoever follows attempts; beyond it they are read again. */
const TRIED_ROWS = 50_000;

/** Keeps the events that were tried more than once for the observer of attempts. */
function addTried(session: Session, span: Span, groups: readonly PublishedGroup[]): void {
  const { tried } = session;
  const goesOn = tried !== null && tried.to === span.from;
  const rows = [...(goesOn ? tried.rows : []), ...groups.flatMap((group) => (group.tried === null ? [] : [group.tried]))];
  session.tried =
    rows.length > TRIED_ROWS ? { from: span.to, to: span.to, rows: [] } : { from: goesOn ? tried.from : span.from, to: span.to, rows };
}

/** Adds groups to the history: each to its type and to all of them. `how` marks the cells they are added to. */
export function addCells(additions: Additions, groups: readonly PublishedGroup[], names: SeriesNames, stepMinutes = 1, how = 0): void {
  // The types with most events take the places there are.
  for (const group of groups.toSorted((a, b) => b.events - a.events)) {
    for (const series of names.allOf(group.type)) {
      const cell = cellIn(additions, group.published * stepMinutes, series);
      cell.how |= how;
      if (group.kind === 'processing') {
        if (group.bucket !== null) addTo(cell.processing, group.bucket, group.events);
        continue;
      }
      cell.published += group.events;
      cell.negative += group.negative;
      cell.latencySumMs += group.latencySumMs;
      if (group.bucket !== null) addTo(cell.latency, group.bucket, group.events);
      if (group.created !== null) cellIn(additions, group.created * stepMinutes, series).created += group.events;
    }
  }
}

/** Marks minutes in which nothing escaped: a zero in them is a zero. */
export function markWatched(additions: Additions, minutes: Iterable<number>, how = 0): void {
  for (const minute of minutes) {
    const cell = cellIn(additions, minute, ALL_TYPES);
    cell.minutes = 1;
    cell.how |= how;
  }
}

/** What waits at this moment; null where it is not known. */
export interface DepthNow {
  waiting: number;
  dead: number | null;
  oldestAgeMs: number | null;
}

/** Adds one sample to a minute. */
function addDepth(additions: Additions, minute: number, { waiting, dead, oldestAgeMs }: DepthNow): void {
  const cell = cellIn(additions, minute, ALL_TYPES);
  cell.depth = {
    samples: 1,
    waitingSum: waiting,
    waitingMax: waiting,
    waitingLast: waiting,
    deadLast: dead ?? -1,
    oldestAgeMaxMs: oldestAgeMs === null ? -1 : Math.max(0, Math.round(oldestAgeMs)),
  };
}
