/** Looks back: rows whose transaction ended later than the horizon could tell are found, and added once. */
import type { Outbox } from '@/lib/outbox/outbox';
import { readRollupsAt } from '@/lib/store/rollups';
import type { Store } from '@/lib/store/store';
import { cellIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import { decodeCell, HOW, type Cell } from '@/lib/rollup/cell';
import { enter } from './books';
import { addCells, missing } from './fold';
import { countByMinute, readCells, steerTo, type FoldedGroup, type Span } from './fold-sql';
import { isTimeout } from './failures';
import { microsOf, MINUTE, minuteOf, minutesIn } from './instants';
import { RECOUNT_MINUTES, type Session } from './session';
import { isUnread } from './spans';

/** Minutes this young are recounted each time, or once at this age where that would be dear. */
const LOOK_BACK_MINUTES = 5;
/** Up to this many rows in those minutes they are recounted each time. */
const CHEAP_ROWS = 20_000;
/** Rows of minutes this young that are gone were purged about when they were counted. */
const YOUNG_MINUTES = 2;
/** After late rows were found, every minute is recounted each time for so long. */
const WATCHFUL = 15 * MINUTE;
/** Provisional minutes looked at in one go. */
const SUSPECTS_AT_ONCE = 10;
const STATEMENT_MS = 4_000;

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
      async (db): Promise<FoldedGroup[]> => {
        await steerTo(db, outbox, access);
        const groups: FoldedGroup[] = [];
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
  const found = groups.reduce((sum, group) => sum + (group.kind === 'latency' ? group.events : 0), 0);
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
