/** Reads the past, a slice at a time and newest first: from before the collector came, and from when it was away. */
import type { Outbox } from '@/lib/outbox/outbox';
import type { Store } from '@/lib/store/store';
import { HOUR_MINUTES, minutesKeptFrom, type Additions, cellIn, HOW, decodeCell, type Cell, ALL_TYPES } from '@/lib/rollup/cell';
import { enter, isUnread, newestSlice, readDownTo, withProvisional, type Progress, type UnreadSpan } from './progress';
import { addCells, markWatched, missing } from './collect';
import { isTimeout, microsOf, MINUTE, minuteOf, minutesIn } from './clock';
import {
  readCells,
  applyPlannerSettings,
  type Span,
  eventsIn,
  readPastAttempts,
  countByMinute,
  type PublishedGroup,
} from './published-sql';
import { type Session, RECOUNT_MINUTES } from './session';
import { readRollupsAt } from '@/lib/store/rollups';

/** A slice is too wide above, and could be wider below. */
const ROWS = { most: 20_000, least: 5_000 };
const TOOK_MS = { most: 500, least: 100 };
const STATEMENT_MS = 4_000;
/** Whether there is past to be read now: its newest slice is read when its transactions have ended, or have had their time. */
export function hasBackfill({ progress, choice, horizon }: Session): boolean {
  const span = progress === null ? null : newest(progress);
  if (progress === null || span === null || choice === null || choice.access === null) return false;
  return horizon.foldableTo(microsOf(progress.lookedAt)) >= microsOf(span.to);
}

/** Reads one slice and enters it; answers how long the reading took, in milliseconds. Throws DatabaseFailure, LeaseLost. */
export async function backfill(session: Session, outbox: Outbox, store: Store): Promise<number> {
  const { progress, choice, names, backfillWidth } = session;
  const span = progress === null ? null : newest(progress);
  if (progress === null || span === null || choice === null || choice.access === null) return 0;
  const { access } = choice;
  const { cleanTo } = session.horizon;
  const edge = minutesKeptFrom(minuteOf(microsOf(progress.lookedAt))) * MINUTE;
  const slice = newestSlice(span, backfillWidth.micros, edge);
  const stepMinutes = slice.to <= edge ? HOUR_MINUTES : 1;
  // What was published since the outbox is watched was missed only for a while: it counts, and its attempts were not missed.
  const counts = microsOf(span.from) >= microsOf(progress.watchedSince);
  const began = performance.now();
  const { groups, attempts } = await outbox.database
    .read(
      async (db) => {
        await applyPlannerSettings(db, outbox, access);
        return {
          groups: await readCells(db, outbox, slice, stepMinutes),
          attempts: counts ? [] : await readPastAttempts(db, outbox, slice, stepMinutes),
        };
      },
      { statementMs: STATEMENT_MS },
    )
    .catch((error: unknown) => {
      if (isTimeout(error)) backfillWidth.tooWide();
      throw error;
    });
  const tookMs = performance.now() - began;
  const rows = eventsIn(groups);
  if (rows > ROWS.most || tookMs > TOOK_MS.most) backfillWidth.tooWide();
  else if (rows < ROWS.least && tookMs < TOOK_MS.least) backfillWidth.narrow();

  const additions: Additions = new Map();
  addCells(additions, groups, names, stepMinutes, HOW.backfilled);
  // They add to the time in which their rows went out: when each attempt failed no row tells.
  for (const { step, type, failed } of attempts)
    for (const series of names.allOf(type)) {
      const cell = cellIn(additions, step * stepMinutes, series);
      cell.failures += failed;
      cell.retries += failed;
    }
  markWatched(additions, minutesBegunIn(slice, microsOf(span.from)), HOW.backfilled);
  const rest = readDownTo(span, slice.from);
  session.progress = await enter(
    store,
    session.lease,
    progress,
    {
      ...progress,
      unread: progress.unread.flatMap((one) => (one === span ? (rest === null ? [] : [rest]) : [one])),
      suspects: stepMinutes === 1 ? withProvisional(progress.suspects, cleanTo, slice) : progress.suspects,
      cost: {
        statements: progress.cost.statements + 4,
        rows: progress.cost.rows + rows,
        milliseconds: progress.cost.milliseconds + tookMs,
      },
    },
    { additions, counts },
  );
  return tookMs;
}

const newest = ({ unread }: Progress): UnreadSpan | null => unread.toSorted((a, b) => microsOf(b.to) - microsOf(a.to))[0] ?? null;

/** The minutes that begin in a slice, and the one its span begins in: cut into whatever slices, each is told once. */
function minutesBegunIn({ from, to }: Span, spanFrom: number): number[] {
  const first = from === spanFrom ? minuteOf(from) : Math.ceil(from / MINUTE);
  return Array.from({ length: Math.max(0, Math.ceil(to / MINUTE) - first) }, (_, index) => first + index);
}

/** Minutes this young are recounted each time, or once at this age where that would be dear. */
const LOOK_BACK_MINUTES = 5;
/** Up to this many rows in those minutes they are recounted each time. */
const CHEAP_ROWS = 20_000;
/** Rows of minutes this young that are gone were purged about when they were counted. */
const YOUNG_MINUTES = 2;
/** After late rows were found, every minute is recounted each time for so long. */
const WATCHFUL = 15 * MINUTE;
/** Provisional minutes read in one go. */
const SUSPECTS_AT_ONCE = 10;

/** Recounts every so many microseconds; answers how many late rows were found. Throws DatabaseFailure, LeaseLost. */
export async function recount(session: Session, outbox: Outbox, store: Store, every: number): Promise<number> {
  const { progress, choice } = session;
  if (progress === null || choice === null || choice.access === null) return 0;
  const { access } = choice;
  const now = microsOf(progress.lookedAt);
  if (now - session.recountedAt < every) return 0;
  // The horizon as it is before anything is read: what is clean by it, the statements below see whole.
  const { cleanTo } = session.horizon;
  const end = minuteOf(microsOf(progress.foldedTo));
  const recent = await recentMinutes(session, store, end, now);
  const due = progress.suspects.filter((minute) => (minute + 1) * MINUTE <= (cleanTo ?? -Infinity)).slice(0, SUSPECTS_AT_ONCE);
  const countable = (minute: number): boolean =>
    minute < end && !isUnread(progress, minute) && minute * MINUTE >= microsOf(progress.countedSince);
  const minutes = [...new Set([...recent, ...due])]
    .filter(countable)
    .sort((a, b) => a - b)
    .slice(0, session.recountMinutes);
  session.recountedAt = now;
  if (minutes.length === 0) return 0;
  const booked = await bookedIn(store, session, minutes);

  const began = performance.now();
  let counted = 0;
  const purged: number[] = [];
  const late = await outbox.database
    .read(
      async (db): Promise<PublishedGroup[]> => {
        await applyPlannerSettings(db, outbox, access);
        const groups: PublishedGroup[] = [];
        for (const span of runsOf(minutes)) {
          const counts = await countByMinute(db, outbox, span);
          purged.push(
            ...minutesIn(span.from, span.to).filter((minute) => (counts.get(minute) ?? 0) < (booked(minute, ALL_TYPES)?.published ?? 0)),
          );
          for (const [minute, rows] of counts) {
            counted += rows;
            if (rows <= (booked(minute, ALL_TYPES)?.published ?? 0)) continue;
            groups.push(...(await readCells(db, outbox, { from: minute * MINUTE, to: (minute + 1) * MINUTE }, 1)));
          }
        }
        return groups;
      },
      { statementMs: STATEMENT_MS },
    )
    .catch((error: unknown) => {
      if (isTimeout(error)) session.recountMinutes = Math.max(1, session.recountMinutes / 2);
      throw error;
    });
  const tookMs = performance.now() - began;
  const additions: Additions = new Map();
  const groups = missing(late, session.names, booked);
  addCells(additions, groups, session.names);
  for (const minute of purged.filter((one) => one >= end - YOUNG_MINUTES)) cellIn(additions, minute, ALL_TYPES).how |= HOW.purgedYoung;
  const found = eventsIn(groups);
  session.recountMinutes = Math.min(RECOUNT_MINUTES, session.recountMinutes * 2);
  const settled = due.filter((minute) => minutes.includes(minute));
  session.progress = await enter(
    store,
    session.lease,
    progress,
    {
      ...progress,
      suspects: progress.suspects.filter((minute) => !settled.includes(minute)),
      cost: {
        statements: progress.cost.statements + 3,
        rows: progress.cost.rows + counted,
        milliseconds: progress.cost.milliseconds + tookMs,
      },
    },
    { additions, counts: true, settled },
  );
  session.recountedTo = Math.max(session.recountedTo, ...recent.map((minute) => minute + 1));
  if (found > 0) session.watchfulUntil = now + WATCHFUL;
  return found;
}

/** All of the last minutes, or those that have just come of age where each recount reads many rows. */
async function recentMinutes(session: Session, store: Store, end: number, now: number): Promise<number[]> {
  const all = Array.from({ length: LOOK_BACK_MINUTES }, (_, index) => end - LOOK_BACK_MINUTES + index);
  if (now < session.watchfulUntil) return all;
  const cells = await readRollupsAt(store.db, { outbox: session.lease.outbox, tier: 'minute', atMinutes: all });
  const rows = cells.filter(({ series }) => series === ALL_TYPES).reduce((sum, { data }) => sum + decodeCell(data).published, 0);
  if (rows <= CHEAP_ROWS) return all;
  const ofAge = all[0] ?? end;
  const from = Math.max(session.recountedTo === -Infinity ? ofAge : session.recountedTo, ofAge - LOOK_BACK_MINUTES);
  return Array.from({ length: Math.max(0, ofAge + 1 - from) }, (_, index) => from + index);
}

async function bookedIn(
  store: Store,
  { lease }: Session,
  minutes: readonly number[],
): Promise<(minute: number, series: string) => Cell | null> {
  const rollups = await readRollupsAt(store.db, { outbox: lease.outbox, tier: 'minute', atMinutes: minutes });
  const cells = new Map(rollups.map(({ atMinute, series, data }) => [`${String(atMinute)} ${series}`, decodeCell(data)]));
  return (minute, series) => cells.get(`${String(minute)} ${series}`) ?? null;
}

/** Minutes next to each other as one span. */
function runsOf(minutes: readonly number[]): Span[] {
  const runs: Span[] = [];
  for (const minute of minutes) {
    const last = runs.at(-1);
    if (last !== undefined && last.to === minute * MINUTE) last.to += MINUTE;
    else runs.push({ from: minute * MINUTE, to: (minute + 1) * MINUTE });
  }
  return runs;
}
