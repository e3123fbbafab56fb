import { VERDICTS, type Diagnosis } from '@/lib/shared/figures/verdicts';
import type { Circumstances } from '../evidence/circumstances';
import { VERDICT_RULES } from './verdict-registry.gen';

const WORST_FIRST = [...VERDICT_RULES].sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));

/** Facts of the worst verdict that come before those of the others. */
const FACTS_FIRST = 2;

/** The worst verdict that holds, its first two facts, one of each other verdict, then its other facts; source_down if nothing is known. */
export function diagnose(circumstances: Circumstances): Diagnosis {
  const found = WORST_FIRST.flatMap((rule) => {
    const finding = rule.judge(circumstances);
    return finding === null ? [] : [{ verdict: rule.verdict, ...finding }];
  });
  const [worst, ...others] = found;
  if (worst === undefined) return { verdict: 'source_down', since: null, evidence: [] };
  // Left out: what an old reading of an unreachable database shows, and that all else is healthy.
  const telling = worst.verdict === 'source_down' ? [] : others.filter((one) => one.verdict !== 'healthy');
  const { verdict, since, evidence } = worst;
  return {
    verdict,
    since,
    evidence: [...evidence.slice(0, FACTS_FIRST), ...telling.flatMap((one) => one.evidence.slice(0, 1)), ...evidence.slice(FACTS_FIRST)],
  };
}
