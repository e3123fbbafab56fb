/** Failures, retries and deaths by the counter of each row. Sums would count a requeue as negative, and a row that is moved twice. */
import { z } from 'zod';
import type { Additions } from '@/lib/rollup/cell';
import { STATES } from '@/lib/shared/states';
import { follow, GAP_MS, tally, type ObservedRow } from './observer';

/** A time in a row is used if it is at most this old; older ones are from before the row was put back. */
const TOLD_MS = 120_000;
/** A memory holds at most this many rows; the first in its list are dropped. */
const ROWS_KEPT = 15_000;

export interface CounterMeaning {
  /** It rises when the relay claims a row; if false, when an attempt has failed. */
  countsClaims: boolean;
  /** The failure that makes an event dead does not raise it. */
  diesUncounted: boolean;
  /** What retrying a dead event sets the counter to; null if it stays, or becomes zero. */
  putBackAt: number | null;
  goneIsPublished: boolean;
}

/** How much the ticks can see. `capped`: counts are lower bounds. `unseen`: nothing is counted. */
export type AttemptsReach = 'complete' | 'capped' | 'unseen';

export interface AttemptsTick {
  atMs: number;
  reach: AttemptsReach;
  rows: ObservedRow[];
  /** Ids that were searched by key and are in no table. */
  gone: string[];
  /** Rows published before this have been read, all of them once; null if published rows are found by key only. */
  publishedToMs: number | null;
}

/** Id, counter, state, type, time of publishing, time of death. */
const rowSchema = z.tuple([z.string(), z.number(), z.enum(STATES), z.string().nullable(), z.number().nullable(), z.number().nullable()]);
const memorySchema = z.object({
  atMs: z.number(),
  reach: z.enum(['complete', 'capped', 'unseen']),
  publishedToMs: z.number().nullable(),
  rows: z.array(rowSchema),
});
export type AttemptsMemory = z.infer<typeof memorySchema>;
type Known = z.infer<typeof rowSchema>;

/** null for memory of another version: the observer starts over. */
export const attemptsMemory = (memory: unknown): AttemptsMemory | null => memorySchema.safeParse(memory).data ?? null;

type Tries = Record<'failures' | 'retries', number>;

/** Failed attempts and retries of a row, as far as its counter shows. */
function triesOf(attempts: number, state: ObservedRow['state'], meaning: CounterMeaning): Tries {
  const count = Math.max(0, attempts);
  if (meaning.countsClaims) {
    const open = state === 'processing' || state === 'published';
    return { failures: open ? Math.max(0, count - 1) : count, retries: Math.max(0, count - 1) };
  }
  const failures = count + (state === 'dead' && meaning.diesUncounted ? 1 : 0);
  return { failures, retries: state === 'published' ? failures : Math.max(0, failures - 1) };
}

/** What happened since the tick that made `memory`, by the times in rows, else of the tick; after a gap rows are only remembered. */
export function countAttempts(memory: AttemptsMemory | null, tick: AttemptsTick, meaning: CounterMeaning) {
  const additions: Additions = new Map();
  const last = memory !== null && tick.atMs - memory.atMs <= GAP_MS ? memory : null;

  const told = (row: ObservedRow): number => {
    const time = row.state === 'published' ? row.publishedMs : row.state === 'dead' ? row.diedMs : null;
    return time !== null && time <= tick.atMs && time > tick.atMs - TOLD_MS ? time : tick.atMs;
  };

  const next = follow(last?.rows ?? [], tick, {
    found(row, before) {
      // If not all rows could be followed, only a row created since then is known to have started at zero.
      const unknown =
        before === undefined && last !== null && last.reach !== 'complete' && (row.createdMs === null || row.createdMs < last.atMs);
      // It came dead: nobody saw it fail.
      const cameDead =
        before === undefined && last !== null && row.state === 'dead' && row.diedMs !== null && row.diedMs < last.atMs - TOLD_MS;
      if (last !== null && before?.[2] !== 'archived' && row.state !== 'archived' && !unknown && !cameDead) {
        const { failures, retries } = triesSince(before, row, meaning);
        const died = row.state === 'dead' && (before?.[2] !== 'dead' || diedAgain(before, row)) ? 1 : 0;
        if (failures + retries + died > 0)
          tally(additions, told(row), row.type, (cell) => {
            cell.failures += failures;
            cell.retries += retries;
            cell.died += died;
          });
      }
      return keep(row, tick);
    },
    missed: (before) => before,
    gone([, attempts, state, type]) {
      if (!meaning.goneIsPublished || state === 'dead' || state === 'archived') return;
      const retries = triesOf(attempts, 'published', meaning).retries - triesOf(attempts, state, meaning).retries;
      if (retries > 0) tally(additions, tick.atMs, type, (cell) => void (cell.retries += retries));
    },
  });
  const reach = next.length > ROWS_KEPT && tick.reach === 'complete' ? 'capped' : tick.reach;
  return { additions, memory: { atMs: tick.atMs, reach, publishedToMs: tick.publishedToMs, rows: next.slice(-ROWS_KEPT) } };
}

/** What the next tick needs of a row; null if it can start from zero, or is not read again. */
function keep(row: ObservedRow, tick: AttemptsTick): Known | null {
  const { id, attempts, state, type, publishedMs, diedMs } = row;
  if (attempts <= 0 && state !== 'dead') return null;
  // A published row is read once more when its time is reached: until then it is remembered as counted.
  if (state === 'published' && (tick.publishedToMs === null || publishedMs === null || publishedMs < tick.publishedToMs)) return null;
  return state === 'unmapped' ? null : [id, attempts, state, type, publishedMs, state === 'dead' ? diedMs : null];
}

function triesSince(before: Known | undefined, row: ObservedRow, meaning: CounterMeaning): Tries {
  const now = triesOf(row.attempts, row.state, meaning);
  if (before === undefined) return now;
  const { putBackAt } = meaning;
  // Only an operator changes a dead event: its counter continued from zero, or from where a retry set it.
  if (before[2] === 'dead' && row.attempts !== before[1] && putBackAt !== null && row.attempts >= putBackAt)
    return difference(now, triesOf(putBackAt, 'retrying', meaning));
  if (row.attempts < before[1]) return now;
  if (row.attempts === before[1] && diedAgain(before, row)) {
    // Put back and dead again between two ticks. A claim counter can only be the same if it was set to zero; a failure counter may have
    // been set to just below its limit, so that only one more attempt is certain.
    return meaning.countsClaims ? now : { failures: 1, retries: 1 };
  }
  return difference(now, triesOf(before[1], before[2], meaning));
}

const difference = (now: Tries, then: Tries): Tries => ({
  failures: Math.max(0, now.failures - then.failures),
  retries: Math.max(0, now.retries - then.retries),
});

const diedAgain = (before: Known, row: ObservedRow): boolean =>
  before[2] === 'dead' && row.state === 'dead' && (row.attempts !== before[1] || row.diedMs !== before[5]);
