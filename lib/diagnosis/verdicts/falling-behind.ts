import { sql } from 'kysely';
import type { Evidence } from '@/lib/shared/figures/verdicts';
import { fresh } from '@/lib/live/reading-sql';
import { drainOf, growthOf, waitingOf, type Drain } from '../evidence/forecast';
import { numberOf, textOf } from '@/lib/live/reading';
import { count, earliest, iso, isState, once, secondsBefore } from '@/lib/outbox/scan/sql-terms';
import type { Circumstances, Finding, VerdictRule } from '../evidence/circumstances';

const OWNER = 'falling_behind';
/** A queue grows in every burst: it is behind when its first event waits longer than a burst explains. */
const OLDEST_MIN_MS = 10_000;
/** A backlog that is being worked off is nobody's business unless it is large, old, and takes longer than this, as seen for a minute. */
const DRAIN_MIN_MS = 600_000;
const DRAIN_SEEN_MS = 60_000;
const BACKLOG_MIN = 1_000;
const BACKLOG_OLDEST_MIN_MS = 60_000;
const LATELY_SECONDS = 10;
const A_MINUTE_MS = 60_000;
/** Minutes of history a pace is taken from. */
const PACE_MINUTES = 5;

/** More comes in than goes out; or what piled up will take very long to go out. */
export const fallingBehindVerdict: VerdictRule = {
  verdict: OWNER,
  figures(base) {
    const { now, state, created, published } = base;
    return {
      waiting: count(isState(state, 'pending', 'retrying')),
      oldestFresh: iso(earliest(created, fresh(base))),
      lately: count(sql`(${isState(state, 'published')} and ${published} >= ${once(secondsBefore(now, LATELY_SECONDS))})`),
    };
  },
  judge: (circumstances) => growing(circumstances) ?? draining(circumstances),
};

function growing(circumstances: Circumstances): Finding | null {
  const { reading, now } = circumstances;
  const growth = growthOf(circumstances);
  const oldest = oldestOf(circumstances);
  if (reading === null || growth === null || oldest === null || now - Date.parse(oldest) < OLDEST_MIN_MS) return null;
  const waiting = waitingOf(reading) ?? 0;
  const pace = paceOf(circumstances);
  return {
    since: new Date(growth.since).toISOString(),
    evidence: [
      { code: 'grows_by', values: { perMinute: Math.round((growth.events * A_MINUTE_MS) / growth.overMs), count: waiting } },
      behind(oldest, now),
      ...(pace === null ? [] : [{ code: 'would_drain', values: range({ fromMs: waiting / pace.fast, toMs: waiting / pace.slow }) }]),
    ],
  };
}

function draining(circumstances: Circumstances): Finding | null {
  const { reading, now } = circumstances;
  const drain = drainOf(circumstances);
  const oldest = oldestOf(circumstances);
  if (reading === null || drain === null || oldest === null || drain.fromMs < DRAIN_MIN_MS || drain.seenMs < DRAIN_SEEN_MS) return null;
  if ((waitingOf(reading) ?? 0) < BACKLOG_MIN || now - Date.parse(oldest) < BACKLOG_OLDEST_MIN_MS) return null;
  return { since: oldest, evidence: [{ code: 'drains_in', values: { ...range(drain), count: waitingOf(reading) } }, behind(oldest, now)] };
}

const behind = (oldestAt: string, now: number): Evidence => ({
  code: 'oldest_waits',
  values: { oldestAt, ageMs: now - Date.parse(oldestAt) },
});
const range = ({ fromMs, toMs }: Pick<Drain, 'fromMs' | 'toMs'>): { fromMs: number; toMs: number } => ({
  fromMs: Math.round(fromMs),
  toMs: Math.round(toMs),
});

function oldestOf({ reading }: Circumstances): string | null {
  return reading === null ? null : (textOf(reading, 'relay_stopped', 'firstDue') ?? textOf(reading, OWNER, 'oldestFresh'));
}

/** Events per millisecond that go out: the fastest and the slowest of the last minutes. */
function paceOf({ reading, history }: Circumstances): { fast: number; slow: number } | null {
  const now = reading?.traits.publishedAt ? (numberOf(reading, OWNER, 'lately') ?? 0) / (LATELY_SECONDS * 1_000) : 0;
  const past = (history?.minutes ?? []).slice(-PACE_MINUTES).map(({ published }) => published / A_MINUTE_MS);
  const paces = [now, ...past].filter((pace) => pace > 0);
  // A minute in which little came says nothing of what the relay can do.
  const fast = Math.max(...paces);
  const slow = Math.min(...paces.filter((pace) => pace >= fast / 2));
  return paces.length === 0 ? null : { fast, slow };
}
