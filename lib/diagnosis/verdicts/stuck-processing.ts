import { sql } from 'kysely';
import { figuresIn, type Aggregates } from '@/lib/live/reading';
import { count, earliest, isState, iso, once, secondsBefore, typeWithMost, type Sql } from '@/lib/outbox/scan/sql-terms';
import type { Base } from '@/lib/live/reading-sql';
import { ageMs, fact, isoOf, type Finding, type VerdictRule } from '../evidence/circumstances';

const OWNER = 'stuck_processing';

const STUCK: Aggregates<{ stuck: number; oldest: string | null; type: string | null }> = {
  owner: OWNER,
  figures: (base) =>
    base.traits.claimTime
      ? { stuck: count(stuck(base)), oldest: iso(earliest(base.attempted, stuck(base))), type: typeWithMost(OWNER, 'stuck') }
      : undefined,
  perType: (base) => (base.traits.claimTime ? { stuck: count(stuck(base)) } : undefined),
};

/** Events that a relay claimed longer ago than the outbox's `stuckAfter` and did not finish. */
export const stuckProcessingVerdict: VerdictRule = {
  verdict: OWNER,
  live: STUCK,
  judge({ reading, now }): Finding | null {
    if (reading === null || !reading.traits.claimTime) return null;
    const { stuck = 0, oldest = null, type = null } = figuresIn(reading, STUCK);
    if (stuck === 0 || oldest === null) return null;
    const stuckAfterMs = reading.traits.stuckAfterSeconds * 1_000;
    const claim = fact('oldest_claim', { claimedAt: oldest, ageMs: ageMs(oldest, now) });
    const evidence = [fact('stuck_events', { count: stuck, stuckAfterMs }), claim, fact('stuck_type', { type })];
    return { since: isoOf(Date.parse(oldest) + stuckAfterMs), evidence };
  },
};

const stuck = ({ traits, now, state, attempted }: Base): Sql =>
  sql`(${isState(state, 'processing')} and ${attempted} < ${once(secondsBefore(now, traits.stuckAfterSeconds))})`;
