import type { Metric } from '../metric';
import { pointSteps } from '../reading';

/** Failed attempts over all attempts: a table keeps the last error of a row, never when each attempt failed. */
export const errorRateMetric: Metric = {
  id: 'error-rate',
  unit: 'ratio',
  help: 'Share of attempts that failed; it has to be observed over time and is unavailable until it is.',
  summary: () => ({ errorRate: { value: null, known: 'unavailable', why: 'needs_sampling' } }),
  byType: () => ({ errors: null }),
  plots: (reading) => ({ errors: { known: 'unavailable', values: pointSteps(reading).map(() => null) } }),
};
