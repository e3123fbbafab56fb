import { fact, isBlind, lastSeen, type Finding, type VerdictRule } from '../evidence/circumstances';

/** The newest reading failed because the database is unreachable: whatever is shown is old. */
export const sourceDownVerdict: VerdictRule = {
  verdict: 'source_down',
  judge(circumstances): Finding | null {
    const { failure } = circumstances;
    if (failure === null || isBlind(failure)) return null;
    const { kind, since } = failure;
    const code = kind === 'timeout' ? 'source_timeout' : 'source_unreachable';
    return { since, evidence: [fact(code, { sinceAt: since }), lastSeen(circumstances)] };
  },
};
