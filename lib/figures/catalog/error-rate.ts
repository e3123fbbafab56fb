import type { Rate } from '@/lib/shared/figures/measured';
import { noPlot, type Metric } from '../metric';
import type { Observed } from '../span';
import { attemptsKnown, whyNoAttempts } from '../attempts-known';

/** Failed attempts over all attempts. */
export const errorRateMetric: Metric = {
  id: 'error-rate',
  unit: 'ratio',
  help: 'Share of attempts that failed: failed attempts over those and the events published.',
  summary: (observed) => ({ errorRate: rateOf(observed) }),
  byType: (observed, { happened }) => ({ errors: whyNoAttempts(observed) === null ? Math.round(happened?.failures ?? 0) : null }),
  plots(line) {
    const { observed, steps } = line;
    const why = whyNoAttempts(observed);
    const seen = () => ({ known: attemptsKnown(observed), values: steps.map(({ cell }) => cell?.failures ?? null) });
    return { errors: why === null ? seen() : noPlot(line, why) };
  },
};

function rateOf(observed: Observed): Rate {
  const why = whyNoAttempts(observed);
  if (why !== null || observed.happened === null) return { value: null, known: 'unavailable', why: why ?? 'not_watched' };
  const { failures, published } = observed.happened.all;
  const known = attemptsKnown(observed);
  return failures + published < 0.5 ? { value: null, known, why: 'no_events' } : { value: failures / (failures + published), known };
}
