/** One tick of an outbox: what was published since the last one goes into the history. */
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Store } from '@/lib/store/store';
import { addCell, type Cell, minutesKeptFrom, cellIn, type Additions, ALL_TYPES } from '@/lib/rollup/cell';
import { enter, unreadSpan, withProvisional, type Progress } from './progress';
import { eventsIn, readCells, applyPlannerSettings, type PublishedGroup, type Span, oldestPublished } from './published-sql';
import { readServerTime, type Tick, isoOf, microsOf, minuteOf, minutesIn, MINUTE } from './clock';
import { countsRows } from '@/lib/shared/figures/collection';
import { chooseMethod, sizeOf, type Choice } from './method';
import { noCost, type Session } from './session';
import { addTo, countOf } from '@/lib/rollup/histogram';
import type { SeriesNames } from './series-names';

/** An index may be added, a table may grow: how an outbox is collected is asked again after this long. */
const CHOICE_STANDS_MS = 60_000;
/** Not read for this long: what was published meanwhile is read like the past, so that a tick stays short. */
const UNREACHABLE = 2 * MINUTE;
const BEHIND = 10 * MINUTE;
const STATEMENT_MS = 4_000;
/** Statements that a read-only transaction of ours has besides those that read. */
const SETTING_STATEMENTS = 2;

export interface CollectContext {
  settleMicros: number;
  /** How far back the past is read, in microseconds. */
  retention: number;
}

interface Found {
  tick: Tick;
  choice: Choice;
  span: Span;
  groups: PublishedGroup[];
  /** Up to where rows could have been collected. */
  target: number;
  /** Where the past that is still to be read begins and ends; null when nothing new is to be read. */
  past: Span | null;
  statements: number;
}

/** Reads, and enters what was read; answers whether rows are left that could be collected at once. Throws DatabaseFailure, LeaseLost. */
export async function collect(
  session: Session,
  outbox: Outbox,
  store: Store,
  terms: CollectContext,
  depth: Promise<DepthNow | null>,
): Promise<{ behind: boolean; tookMs: number }> {
  const began = performance.now();
  const found = await read(session, outbox, terms);
  const tookMs = performance.now() - began;
  const { tick, choice, groups, span, target, past } = found;
  const before = session.progress ?? firstProgress(tick, choice, terms);
  const rowsCounted = countsRows(choice.method);
  const additions: Additions = session.pending;
  addCells(additions, groups, session.names);
  markWatched(additions, rowsCounted ? minutesIn(span.from, span.to) : choice.sees ? watchedBy(before, tick) : []);
  const sample = await depth;
  if (sample !== null) addDepth(additions, minuteOf(tick.at), sample);

  const counted = eventsIn(groups);
  session.pace.succeeded(tookMs);
  const unread = past === null ? null : unreadSpan(past.from, past.to);
  const progress: Progress = {
    ...before,
    method: choice.method,
    advice: choice.advice,
    foldedTo: isoOf(rowsCounted ? span.to : tick.at),
    lookedAt: isoOf(tick.at),
    countedSince: rowsCounted ? before.countedSince : isoOf(tick.at),
    unread: [...(rowsCounted ? before.unread : []), ...(unread === null ? [] : [unread])],
    suspects: withProvisional(before.suspects, session.horizon.cleanTo, span).filter(
      // Minutes that are no longer kept, or that were not counted from rows, cannot be recounted.
      (minute) => minute >= minutesKeptFrom(minuteOf(tick.at)) && minute * MINUTE >= microsOf(before.countedSince),
    ),
    everyMs: session.pace.everyMs,
    slowed: session.pace.slowed,
    blind: false,
    cost: {
      statements: before.cost.statements + found.statements + session.observed.statements,
      rows: before.cost.rows + counted + session.observed.rows,
      milliseconds: before.cost.milliseconds + tookMs + session.observed.milliseconds,
    },
  };
  session.progress = await enter(store, session.lease, before, progress, {
    additions,
    counts: true,
    memory: session.memoryChanged ? JSON.stringify(session.memory) : undefined,
  });
  if (rowsCounted) addTried(session, span, groups);
  session.pending = new Map();
  session.memoryChanged = false;
  session.observed = noCost();
  if (rowsCounted && tookMs < 100) session.collectWidth.narrow();
  return { behind: rowsCounted && span.to < target - MINUTE, tookMs };
}

async function read(session: Session, outbox: Outbox, terms: CollectContext): Promise<Found> {
  return outbox.database.read(
    async (db) => {
      let statements = SETTING_STATEMENTS + 2;
      if (session.choice === null || Date.now() - session.chosenAt > CHOICE_STANDS_MS) {
        session.choice = chooseMethod(outbox, await sizeOf(db, outbox));
        session.chosenAt = Date.now();
        statements += 2;
      }
      const { choice } = session;
      if (choice.access !== null) await applyPlannerSettings(db, outbox, choice.access);
      const tick = await readServerTime(db, outbox.database.engine);
      session.horizon.see(tick);
      const settled = tick.at - terms.settleMicros;
      const nothing = { tick, choice, span: { from: settled, to: settled }, groups: [], target: settled, past: null };
      if (choice.access === null) return { ...nothing, statements };

      const { progress } = session;
      const from = progress === null ? -Infinity : microsOf(progress.foldedTo);
      const away = progress === null || tick.at - microsOf(progress.lookedAt) > UNREACHABLE || tick.at - from > BEHIND;
      if (away) {
        const past = await pastOf(db, outbox, choice, { from: Math.max(from, tick.at - terms.retention), to: settled });
        return { ...nothing, past, statements: statements + 1 };
      }
      const target = Math.max(from, session.horizon.foldableTo(tick.at));
      const span = { from, to: Math.min(target, from + session.collectWidth.micros) };
      const groups = span.to > span.from ? await readCells(db, outbox, span, 1, 'tried') : [];
      return { tick, choice, span, groups, target, past: null, statements: statements + 1 };
    },
    { statementMs: STATEMENT_MS },
  );
}

/** Rows older than the oldest there is may have been purged: what was published then is not known, and stays a gap. */
async function pastOf(db: Db, outbox: Outbox, { access }: Choice, span: Span): Promise<Span | null> {
  const before = { from: span.from - MINUTE, to: span.to };
  const oldest = access === null ? null : await oldestPublished(db, outbox, access, before);
  return oldest === null ? null : { from: Math.max(span.from, oldest), to: span.to };
}

function firstProgress(tick: Tick, choice: Choice, terms: CollectContext): Progress {
  const at = isoOf(tick.at);
  return {
    method: choice.method,
    foldedTo: isoOf(tick.at - terms.settleMicros),
    watchedSince: at,
    lookedAt: at,
    countedSince: '1970-01-01T00:00:00.000000Z',
    unread: [],
    suspects: [],
    sealedTo: Math.floor(minuteOf(tick.at - terms.settleMicros) / 60) * 60,
    everyMs: 0,
    slowed: false,
    blind: false,
    cost: { statements: 0, rows: 0, milliseconds: 0 },
    advice: null,
  };
}

/** Minutes an outbox was watched in that is observed: those since the last tick, unless that was too long ago. */
function watchedBy({ lookedAt }: Progress, { at }: Tick): number[] {
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

/** Adds what an observer saw to what waits for the next entry. */
export function addPending(session: Session, additions: Additions): void {
  for (const [minute, series] of additions) {
    for (const [name, cell] of series) addCell(cellIn(session.pending, minute, name), cell);
  }
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

/**
 * What the table has beyond the history: for every bucket of every type the rows that are missing, none where the history has
 * more (rows that were purged since). `booked` answers the cell of a series in a minute.
 */
export function missing(
  groups: readonly PublishedGroup[],
  names: SeriesNames,
  booked: (minute: number, series: string) => Cell | null,
): PublishedGroup[] {
  const byKey = new Map<string, { series: string; groups: PublishedGroup[] }>();
  for (const group of groups) {
    const series = names.of(group.type);
    const key = [group.kind, group.published, group.bucket, series].join(' ');
    const alike = byKey.get(key) ?? { series, groups: [] };
    alike.groups.push(group);
    byKey.set(key, alike);
  }
  const found: PublishedGroup[] = [];
  for (const { series, groups: alike } of byKey.values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const inTable = alike.reduce((sum, group) => sum + group.events, 0);
    let left = inTable - bookedEvents(booked(first.published, series), first);
    // Rows of one bucket differ in their minute of creation at most: whichever of them are missing, the sums are right.
    for (const group of alike) {
      if (left <= 0) break;
      found.push(shareOf(group, Math.min(left, group.events)));
      left -= group.events;
    }
  }
  return found;
}

function bookedEvents(cell: Cell | null, { kind, bucket }: PublishedGroup): number {
  if (cell === null) return 0;
  if (bucket !== null) return cell[kind].get(bucket) ?? 0;
  // A row without a time of claim is in no histogram: it is not missing.
  return kind === 'processing' ? Infinity : cell.published - countOf(cell.latency);
}

function shareOf(group: PublishedGroup, events: number): PublishedGroup {
  const share = events / group.events;
  return { ...group, events, latencySumMs: group.latencySumMs * share, negative: Math.round(group.negative * share) };
}

/** What waits at this moment; null where it is not known. */
export interface DepthNow {
  waiting: number;
  dead: number | null;
  oldestAgeMs: number | null;
}

/** Adds one sample to a minute. */
export function addDepth(additions: Additions, minute: number, { waiting, dead, oldestAgeMs }: DepthNow): void {
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
