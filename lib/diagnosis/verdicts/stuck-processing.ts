import { sql } from 'kysely';
import { numberOf, textOf } from '@/lib/live/reading';
import { count, earliest, isState, iso, once, secondsBefore, typeWithMost, type Sql } from '@/lib/outbox/scan/sql-terms';
import type { Base } from '@/lib/live/reading-sql';
import type { Finding, VerdictRule } from '../evidence/circumstances';

const OWNER = 'stuck_processing';

/** Events that a relay took longer ago than the outbox's `stuckAfter` and never finished. */
export const stuckProcessingVerdict: VerdictRule = {
  verdict: 'stuck_processing',
  figures: (base) =>
    base.traits.claimTime
      ? { stuck: count(stuck(base)), oldest: iso(earliest(base.attempted, stuck(base))), type: typeWithMost(OWNER, 'stuck') }
      : undefined,
  perType: (base) => (base.traits.claimTime ? { stuck: count(stuck(base)) } : undefined),
  judge({ reading, now }): Finding | null {
    if (reading === null || !reading.traits.claimTime) return null;
    const stuck = numberOf(reading, OWNER, 'stuck') ?? 0;
    const oldestAt = textOf(reading, OWNER, 'oldest');
    if (stuck === 0 || oldestAt === null) return null;
    const claimedAt = Date.parse(oldestAt);
    const stuckAfterMs = reading.traits.stuckAfterSeconds * 1_000;
    return {
      since: new Date(claimedAt + stuckAfterMs).toISOString(),
      evidence: [
        { code: 'stuck_events', values: { count: stuck, stuckAfterMs } },
        { code: 'oldest_claim', values: { claimedAt: oldestAt, ageMs: now - claimedAt } },
        { code: 'stuck_type', values: { type: textOf(reading, OWNER, 'type') } },
      ],
    };
  },
};

const stuck = ({ traits, now, state, attempted }: Base): Sql =>
  sql`(${isState(state, 'processing')} and ${attempted} < ${once(secondsBefore(now, traits.stuckAfterSeconds))})`;
