import type { Evidence } from '@/lib/shared/verdicts';
import type { SummaryFigures } from '../summarise';
import type { Reading } from '../reading';
import type { VerdictRule } from '../verdict';

/** Nothing else holds; what could not be judged is said. */
export const healthyVerdict: VerdictRule = {
  verdict: 'healthy',
  judge({ reading, figures }) {
    if (reading === null || figures === null) return null;
    return { since: null, evidence: [lastPublished(figures), latency(figures), ...notJudged(reading, figures)] };
  },
};

function lastPublished({ lastPublishedAt, latency: { why } }: SummaryFigures): Evidence {
  if (lastPublishedAt !== null) return { code: 'last_published', values: { lastPublishedAt } };
  return why === 'needs_sampling' || why === 'no_published_at' || why === 'too_many_rows'
    ? { code: 'publishing_time_unknown', values: {} }
    : { code: 'never_published', values: {} };
}

function latency({ latency: { p95Ms, count }, depth }: SummaryFigures): Evidence {
  if (p95Ms !== null) return { code: 'usual_latency', values: { p95Ms, count } };
  return { code: 'waiting_now', values: { count: depth.waiting.count } };
}

function notJudged({ traits, reach }: Reading, { depth }: SummaryFigures): Evidence[] {
  const said: Evidence[] = [];
  if ((depth.processing.count ?? 0) > 0 && !traits.claimTime)
    said.push({ code: 'claim_time_unknown', values: { count: depth.processing.count } });
  if (Object.values(reach).includes('cut')) said.push({ code: 'too_many_rows', values: {} });
  return said;
}
