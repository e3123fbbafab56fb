import { sql } from 'kysely';
import { numberOf, textOf } from '../reading';
import { count, earliest, isState, iso, mostFrequent, once, secondsBefore } from '../spelling';
import type { Finding, VerdictRule } from '../verdict';

const OWNER = 'stuck_processing';

/** Events that a relay took longer ago than the outbox's `stuckAfter` and never finished. */
export const stuckProcessingVerdict: VerdictRule = {
  verdict: 'stuck_processing',
  figures({ traits, now, state, attempted, type }) {
    const stuck = sql`(${isState(state, 'processing')} and ${attempted} < ${once(secondsBefore(now, traits.stuckAfterSeconds))})`;
    return { stuck: count(stuck), oldest: iso(earliest(attempted, stuck)), type: mostFrequent(type, stuck) };
  },
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
