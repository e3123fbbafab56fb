/** Reads the past, a slice at a time and newest first: from before the collector came, and from when it was away. */
import type { Outbox } from '@/lib/outbox/outbox';
import type { Store } from '@/lib/store/store';
import { HOUR_MINUTES, minutesKeptFrom, type Additions } from '@/lib/rollup/additions';
import { HOW } from '@/lib/rollup/cell';
import { enter } from './books';
import { addCells, markWatched } from './fold';
import { isTimeout } from './failures';
import { readCells, steerTo, type Span } from './fold-sql';
import { microsOf, MINUTE, minuteOf } from './instants';
import { withSuspects } from './look';
import { addPastAttempts, readPastAttempts } from './past-attempts';
import type { Progress, UnreadSpan } from './progress';
import type { Session } from './session';
import { newestSlice, readDownTo } from './spans';

/** A slice is too wide above, and could be wider below. */
const ROWS = { most: 20_000, least: 5_000 };
const TOOK_MS = { most: 500, least: 100 };
const STATEMENT_MS = 4_000;
/** Whether there is past to be read now: its newest slice is read when its transactions have ended, or have had their time. */
export function hasPast({ progress, choice, horizon }: Session): boolean {
  const span = progress === null ? null : newest(progress);
  if (progress === null || span === null || choice === null || choice.access === null) return false;
  return horizon.foldableTo(microsOf(progress.lookedAt)) >= microsOf(span.to);
}

/** Reads one slice and enters it; answers how long the reading took, in milliseconds. Throws DatabaseFailure, LeaseLost. */
export async function readPast(session: Session, outbox: Outbox, store: Store): Promise<number> {
  const { progress, choice, names, pastWidth } = session;
  const span = progress === null ? null : newest(progress);
  if (progress === null || span === null || choice === null || choice.access === null) return 0;
  const { access } = choice;
  const { cleanTo } = session.horizon;
  const edge = minutesKeptFrom(minuteOf(microsOf(progress.lookedAt))) * MINUTE;
  const slice = newestSlice(span, pastWidth.micros, edge);
  const stepMinutes = slice.to <= edge ? HOUR_MINUTES : 1;
  // What was published since the outbox is watched was missed only for a while: it counts, and its attempts were not missed.
  const counts = microsOf(span.from) >= microsOf(progress.watchedSince);
  const began = performance.now();
  const { groups, attempts } = await outbox.database
    .read(
      async (db) => {
        await steerTo(db, outbox, access);
        return {
          groups: await readCells(db, outbox, slice, stepMinutes),
          attempts: counts ? [] : await readPastAttempts(db, outbox, slice, stepMinutes),
        };
      },
      { statementMs: STATEMENT_MS },
    )
    .catch((error: unknown) => {
      if (isTimeout(error)) pastWidth.tooWide();
      throw error;
    });
  const tookMs = performance.now() - began;
  const rows = groups.reduce((sum, group) => sum + (group.kind === 'latency' ? group.events : 0), 0);
  if (rows > ROWS.most || tookMs > TOOK_MS.most) pastWidth.tooWide();
  else if (rows < ROWS.least && tookMs < TOOK_MS.least) pastWidth.narrow();

  const additions: Additions = new Map();
  addCells(additions, groups, names, stepMinutes, HOW.backfilled);
  addPastAttempts(additions, attempts, names, stepMinutes);
  markWatched(additions, minutesBegunIn(slice, microsOf(span.from)), HOW.backfilled);
  const rest = readDownTo(span, slice.from);
  session.progress = await enter(
    store,
    session.lease,
    progress,
    {
      ...progress,
      unread: progress.unread.flatMap((one) => (one === span ? (rest === null ? [] : [rest]) : [one])),
      suspects: stepMinutes === 1 ? withSuspects(progress.suspects, cleanTo, slice) : progress.suspects,
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
