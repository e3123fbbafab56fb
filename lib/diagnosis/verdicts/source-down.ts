import type { Evidence } from '@/lib/shared/figures/verdicts';
import { isBlind, type Finding, type VerdictRule } from '../evidence/circumstances';

/** The newest attempt to read failed as the database is away: whatever is shown is old. */
export const sourceDownVerdict: VerdictRule = {
  verdict: 'source_down',
  judge({ failure, reading }): Finding | null {
    if (failure === null || isBlind(failure)) return null;
    const sinceAt = failure.since;
    const away: Evidence =
      failure.kind === 'timeout' ? { code: 'source_timeout', values: { sinceAt } } : { code: 'source_unreachable', values: { sinceAt } };
    const lastSeen: Evidence =
      reading === null ? { code: 'never_seen', values: {} } : { code: 'last_seen', values: { lastSeenAt: reading.asOf } };
    return { since: sinceAt, evidence: [away, lastSeen] };
  },
};
