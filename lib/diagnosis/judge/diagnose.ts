import { VERDICTS, type Diagnosis, type Held, type Verdict } from '@/lib/shared/figures/verdicts';
import { actedFacts } from '../evidence/acted';
import type { Circumstances, Finding } from '../evidence/circumstances';
import { VERDICT_RULES } from './verdict-registry.gen';

const WORST_FIRST = [...VERDICT_RULES].sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));

/** Facts of the worst verdict that come before those of the others. */
const FACTS_FIRST = 2;

type Found = Held & Finding;

/** The verdicts that hold, worst first, each since the earliest start that is known: that of the rows, or the entered one (`open`). */
export function findings(circumstances: Circumstances, open: ReadonlyMap<Verdict, string> = new Map()): Found[] {
  const found = WORST_FIRST.flatMap((rule): Found[] => {
    const finding = rule.judge(circumstances);
    const entered = open.get(rule.verdict);
    if (finding === null || entered === undefined) return finding === null ? [] : [{ verdict: rule.verdict, ...finding }];
    // Of the same moment the finding's text stays: the store's may spell it with fewer digits.
    const isNoLater = finding.since !== null && Date.parse(finding.since) <= Date.parse(entered);
    return [{ verdict: rule.verdict, ...finding, since: isNoLater ? finding.since : entered }];
  });
  // Left out: what an old reading shows while no new one can be had, and that all else is healthy.
  return circumstances.failure !== null ? found.slice(0, 1) : found.filter((one, at) => at === 0 || one.verdict !== 'healthy');
}

/** The verdicts that hold; the evidence is two facts of the worst, what operators did, one of each other, then the worst's other facts. source_down if nothing is known. */
export function diagnose(circumstances: Circumstances, open?: ReadonlyMap<Verdict, string>): Diagnosis {
  const found = findings(circumstances, open);
  const [worst, ...others] = found;
  if (worst === undefined) return { verdict: 'source_down', since: null, evidence: [], holds: [{ verdict: 'source_down', since: null }] };
  const acted = circumstances.failure !== null ? [] : actedFacts(circumstances);
  const rest = [...others.flatMap((one) => one.evidence.slice(0, 1)), ...worst.evidence.slice(FACTS_FIRST)];
  const { verdict, since } = worst;
  const evidence = [...worst.evidence.slice(0, FACTS_FIRST), ...acted, ...rest];
  return { verdict, since, evidence, holds: found.map((one) => ({ verdict: one.verdict, since: one.since })) };
}
