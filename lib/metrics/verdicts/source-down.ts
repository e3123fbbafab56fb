import type { Evidence } from '@/lib/shared/verdicts';
import type { Failure, Finding, VerdictRule } from '../verdict';

const CODES: Record<Failure['kind'], string> = {
  timeout: 'source_timeout',
  unavailable: 'source_unreachable',
  unusable: 'source_unusable',
};

/** The newest attempt to read failed: whatever is shown is old. */
export const sourceDownVerdict: VerdictRule = {
  verdict: 'source_down',
  judge({ failure, reading }): Finding | null {
    if (failure === null) return null;
    const lastSeen: Evidence =
      reading === null ? { code: 'never_seen', values: {} } : { code: 'last_seen', values: { lastSeenAt: reading.asOf } };
    return { since: failure.since, evidence: [{ code: CODES[failure.kind], values: { sinceAt: failure.since } }, lastSeen] };
  },
};
