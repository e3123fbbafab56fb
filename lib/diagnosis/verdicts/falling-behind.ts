import type { Evidence } from '@/lib/shared/figures/verdicts';
import { figuresIn, type Reading } from '@/lib/live/reading';
import { drainOf, growthOf, LATELY_SECONDS, drainBy, QUEUE } from '../evidence/forecast';
import { FLOW } from '../evidence/flow';
import { ageMs, fact, factIfKnown, seenBefore, type Circumstances, type Finding, type VerdictRule } from '../evidence/circumstances';
import { blockedOnKeyVerdict } from './blocked-on-key';
import { noHandlerVerdict } from './no-handler';

/** A queue grows in every burst: it is behind if its first event waits longer than a burst explains. */
const OLDEST_MIN_MS = 10_000;
/** A backlog that shrinks is reported only if it is large, old, and takes longer than this, as seen for a minute. */
const DRAIN_MIN_MS = 600_000;
const DRAIN_SEEN_MS = 60_000;
const BACKLOG_MIN = 1_000;
const BACKLOG_OLDEST_MIN_MS = 60_000;
const A_MINUTE_MS = 60_000;
/** Minutes of history from which a pace is taken. */
const PACE_MINUTES = 5;

/** More is created than published; or the backlog will take very long to work off; or some events are passed over. */
export const fallingBehindVerdict: VerdictRule = {
  verdict: 'falling_behind',
  live: QUEUE,
  judge(circumstances): Finding | null {
    const { reading, now } = circumstances;
    // A relay that works in rounds lets due times pass.
    if (reading === null || !reading.traits.createdAt) return null;
    const { waiting: count = 0, oldestFresh } = figuresIn(reading, QUEUE);
    const oldestAt = figuresIn(reading, FLOW).firstDue ?? oldestFresh ?? null;
    if (oldestAt === null || ageMs(oldestAt, now) < OLDEST_MIN_MS) return null;
    const oldest = fact('oldest_waits', { oldestAt, ageMs: ageMs(oldestAt, now) });
    const growth = growthOf(circumstances);
    if (growth !== null) {
      const perMinute = Math.round((growth.events * A_MINUTE_MS) / growth.overMs);
      const evidence = [fact('grows_by', { perMinute, count }), oldest, ...wouldDrain(circumstances, count)];
      return { since: new Date(growth.since).toISOString(), evidence };
    }
    return drainsSlowly(circumstances, count, oldestAt, oldest) ?? leftBehind(circumstances, reading);
  },
};

function drainsSlowly(circumstances: Circumstances, count: number, oldestAt: string, oldest: Evidence): Finding | null {
  const drain = drainOf(circumstances);
  if (drain === null || drain.fromMs < DRAIN_MIN_MS || drain.seenMs < DRAIN_SEEN_MS) return null;
  if (count < BACKLOG_MIN || ageMs(oldestAt, circumstances.now) < BACKLOG_OLDEST_MIN_MS) return null;
  const { fromMs, toMs } = drain;
  return { since: oldestAt, evidence: [fact('drains_in', { fromMs, toMs, count }), oldest] };
}

/** Later events are out, and these were never tried: a relay that looks only ahead does not come back for a row that was committed late. */
function leftBehind(circumstances: Circumstances, reading: Reading): Finding | null {
  const { left = 0, firstLeft = null } = figuresIn(reading, QUEUE);
  const stood = seenBefore(circumstances, { fromMs: A_MINUTE_MS }, (past) => figuresIn(past, QUEUE).firstLeft === firstLeft);
  // These say more of the same rows.
  const known = [noHandlerVerdict, blockedOnKeyVerdict].some((rule) => rule.judge(circumstances) !== null);
  if (left === 0 || firstLeft === null || !stood || known) return null;
  const oldest = fact('oldest_waits', { oldestAt: firstLeft, ageMs: ageMs(firstLeft, circumstances.now) });
  return { since: firstLeft, evidence: [fact('left_behind', { count: left }), oldest] };
}

/** How long it would take if nothing more came, by the fastest and the slowest pace of the last minutes. */
function wouldDrain({ reading, history }: Circumstances, waiting: number): Evidence[] {
  const lately = reading !== null && reading.traits.publishedAt ? (figuresIn(reading, QUEUE).lately ?? 0) : 0;
  const past = (history?.minutes ?? []).slice(-PACE_MINUTES).map(({ published }) => published / A_MINUTE_MS);
  const { fromMs, toMs } = drainBy(waiting, [lately / (LATELY_SECONDS * 1_000), ...past]);
  return factIfKnown('would_drain', { fromMs, toMs });
}
