import { unavailable, type Count } from '@/lib/shared/figures/measured';
import { noPlot, type Metric } from '../metric';
import type { Observed } from '../span';
import { attemptsKnown, whyNoAttempts } from '../attempts-known';

/** Attempts that repeated a failed one. */
export const retriesMetric: Metric = {
  id: 'retries',
  unit: 'events',
  help: 'Attempts beyond the first, counted when they were seen.',
  summary: (observed) => ({ retries: retriesOf(observed) }),
  byType: (observed, { happened }) => ({
    retries: whyNoAttempts(observed) === null ? Math.round(happened?.retries ?? 0) : null,
  }),
  plots(line) {
    const { observed, steps } = line;
    const why = whyNoAttempts(observed);
    const seen = () => ({ known: attemptsKnown(observed), values: steps.map(({ cell }) => cell?.retries ?? null) });
    return { retries: why === null ? seen() : noPlot(line, why) };
  },
};

function retriesOf(observed: Observed): Count {
  const why = whyNoAttempts(observed);
  if (why !== null || observed.happened === null) return unavailable(why ?? 'not_watched');
  return { count: Math.round(observed.happened.all.retries), known: attemptsKnown(observed) };
}
