import { VERDICTS, type Diagnosis } from '@/lib/shared/figures/verdicts';
import type { Circumstances } from '../evidence/circumstances';
import { VERDICT_RULES } from './verdict-registry.gen';

const WORST_FIRST = [...VERDICT_RULES].sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));

/** Facts of the worst verdict that come before those of the others. */
const FACTS_FIRST = 2;

/** The verdicts that hold; the evidence is two facts of the worst, one of each other, then the worst's other facts. source_down if nothing is known. */
export function diagnose(circumstances: Circumstances): Diagnosis {
  const found = WORST_FIRST.flatMap((rule) => {
    const finding = rule.judge(circumstances);
    return finding === null ? [] : [{ verdict: rule.verdict, ...finding }];
  });
  const [worst, ...others] = found;
  if (worst === undefined) return { verdict: 'source_down', since: null, evidence: [], holds: [{ verdict: 'source_down', since: null }] };
  // Left out: what an old reading shows while no new one can be had, and that all else is healthy.
  const telling = circumstances.failure !== null ? [] : others.filter((one) => one.verdict !== 'healthy');
  const { verdict, since, evidence } = worst;
  return {
    verdict,
    since,
    evidence: [...evidence.slice(0, FACTS_FIRST), ...telling.flatMap((one) => one.evidence.slice(0, 1)), ...evidence.slice(FACTS_FIRST)],
    holds: [worst, ...telling].map((one) => ({ verdict: one.verdict, since: one.since })),
  };
}
