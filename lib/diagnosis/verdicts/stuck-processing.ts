import { sql } from 'kysely';
import { figuresIn, type Aggregates } from '@/lib/live/reading';
import { count, earliest, isState, iso, once, secondsBefore, typeWithMost, type Sql } from '@/lib/outbox/scan/sql-terms';
import type { Base } from '@/lib/live/reading-sql';
import { fact, type Finding, type VerdictRule } from '../evidence/circumstances';

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
    const claimedAt = Date.parse(oldest);
    const stuckAfterMs = reading.traits.stuckAfterSeconds * 1_000;
    return {
      since: new Date(claimedAt + stuckAfterMs).toISOString(),
      evidence: [
        fact('stuck_events', { count: stuck, stuckAfterMs }),
        fact('oldest_claim', { claimedAt: oldest, ageMs: now - claimedAt }),
        fact('stuck_type', { type }),
      ],
    };
  },
};

const stuck = ({ traits, now, state, attempted }: Base): Sql =>
  sql`(${isState(state, 'processing')} and ${attempted} < ${once(secondsBefore(now, traits.stuckAfterSeconds))})`;
