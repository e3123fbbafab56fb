/**
 * Failed attempts, retries and deaths between two ticks, from the counters of single rows. Never from sums: a counter
 * set back to zero by a requeue would count negative, and a row moved to the dead letters would count twice.
 */
import { z } from 'zod';
import type { Additions } from '@/lib/rollup/cell';
import { follow, GAP_MS, tally, type ObservedRow } from './observer';

/** Times that rows tell are believed this far back; older ones are of an earlier life of the row. */
const TOLD_MS = 120_000;
/** Rows a memory holds at most; those that came first go first. */
const ROWS_KEPT = 15_000;

/** What a shape's counter means. */
export interface CounterMeaning {
  /** It rises when the relay takes a row; otherwise when an attempt has failed. */
  countsClaims: boolean;
  /** The failure that makes an event dead does not raise it. */
  diesUncounted: boolean;
  /** What a dead event's counter is set to when it is to be tried again; null where it stays, or becomes zero. */
  putBackAt: number | null;
  /** Rows go when they are published. */
  goneIsPublished: boolean;
}

/** How much of what happens the ticks can see. `capped`: counts are at least this. `unseen`: nothing is counted. */
export type AttemptsReach = 'complete' | 'capped' | 'unseen';

export interface AttemptsTick {
  atMs: number;
  reach: AttemptsReach;
  rows: ObservedRow[];
  /** Ids that were looked for by key and are in no table. */
  gone: string[];
  /** Rows published before this have been read, all of them once; null where publishing is seen by key alone. */
  publishedToMs: number | null;
}

const rowSchema = z.tuple([
  z.string(),
  z.number(),
  z.enum(['pending', 'retrying', 'processing', 'published', 'dead', 'archived']),
  z.string().nullable(),
  z.number().nullable(),
  z.number().nullable(),
]);
const memorySchema = z.object({
  atMs: z.number(),
  reach: z.enum(['complete', 'capped', 'unseen']),
  publishedToMs: z.number().nullable(),
  /** Id, counter, state, type, time of publishing, time of death. */
  rows: z.array(rowSchema),
});
export type AttemptsMemory = z.infer<typeof memorySchema>;
type Known = z.infer<typeof rowSchema>;

/** null for what no build of this version has written: the observer begins anew. */
export function attemptsMemory(memory: unknown): AttemptsMemory | null {
  const parsed = memorySchema.safeParse(memory);
  return parsed.success ? parsed.data : null;
}

interface Tries {
  failures: number;
  retries: number;
}

/** How many attempts of a row failed and how many repeated another, as far as its counter tells. */
function triesOf(attempts: number, state: ObservedRow['state'], meaning: CounterMeaning): Tries {
  const count = Math.max(0, attempts);
  if (meaning.countsClaims) {
    const open = state === 'processing' || state === 'published';
    return { failures: open ? Math.max(0, count - 1) : count, retries: Math.max(0, count - 1) };
  }
  const failures = count + (state === 'dead' && meaning.diesUncounted ? 1 : 0);
  return { failures, retries: state === 'published' ? failures : Math.max(0, failures - 1) };
}

/**
 * What happened since the tick that made `memory`. Without one, or after a gap, what is there is taken as it is and nothing
 * is counted. Events are counted into the minute their row tells, else into that of the tick.
 */
export function countAttempts(
  memory: AttemptsMemory | null,
  tick: AttemptsTick,
  meaning: CounterMeaning,
): { additions: Additions; memory: AttemptsMemory } {
  const additions: Additions = new Map();
  const last = memory !== null && tick.atMs - memory.atMs <= GAP_MS ? memory : null;

  const told = (row: ObservedRow): number => {
    const time = row.state === 'published' ? row.publishedMs : row.state === 'dead' ? row.diedMs : null;
    return time !== null && time <= tick.atMs && time > tick.atMs - TOLD_MS ? time : tick.atMs;
  };

  const next = follow(last?.rows ?? [], tick, {
    found(row, before) {
      // Of a row that was beyond what could be followed, only a new one is known to have begun at zero.
      const unknown =
        before === undefined && last !== null && last.reach !== 'complete' && (row.createdMs === null || row.createdMs < last.atMs);
      if (last !== null && before?.[2] !== 'archived' && row.state !== 'archived' && !unknown) {
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

/** What the next tick needs of a row; null when it can begin from nothing, or will not be read again. */
function keep(row: ObservedRow, tick: AttemptsTick): Known | null {
  const { id, attempts, state, type, publishedMs, diedMs } = row;
  if (attempts <= 0 && state !== 'dead') return null;
  // A published row comes once more when its time is read: until then it has to be known that it was counted.
  if (state === 'published' && (tick.publishedToMs === null || publishedMs === null || publishedMs < tick.publishedToMs)) return null;
  return state === 'unmapped' ? null : [id, attempts, state, type, publishedMs, state === 'dead' ? diedMs : null];
}

function triesSince(before: Known | undefined, row: ObservedRow, meaning: CounterMeaning): Tries {
  const now = triesOf(row.attempts, row.state, meaning);
  if (before === undefined) return now;
  const { putBackAt } = meaning;
  // Only an operator changes a dead event: its counter went on from zero, or from where a retry had put it.
  if (before[2] === 'dead' && row.attempts !== before[1] && putBackAt !== null && row.attempts >= putBackAt)
    return difference(now, triesOf(putBackAt, 'retrying', meaning));
  if (row.attempts < before[1]) return now;
  if (row.attempts === before[1] && diedAgain(before, row)) {
    // Put back and dead again between two ticks. A counter of claims can only be the same when it was set to zero; one of
    // failures may have been set to just below its limit, so that one more attempt is all that is certain.
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
