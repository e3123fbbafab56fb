import { VERDICTS, type Diagnosis } from '@/lib/shared/verdicts';
import type { Circumstances } from './verdict';
import { VERDICT_RULES } from './verdict-registry.gen';

const WORST_FIRST = [...VERDICT_RULES].sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));

/** The worst verdict that holds. Of a source that was neither read nor has failed yet nothing is known: it is away. */
export function diagnose(circumstances: Circumstances): Diagnosis {
  for (const rule of WORST_FIRST) {
    const finding = rule.judge(circumstances);
    if (finding !== null) return { verdict: rule.verdict, since: finding.since, evidence: finding.evidence };
  }
  return { verdict: 'source_down', since: null, evidence: [] };
}
