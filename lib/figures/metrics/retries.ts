import { attemptsPlot, ofAttempts } from '../attempts';
import type { Metric } from '../series';

/** Attempts beyond the first. */
export const retriesMetric = {
  id: 'retries',
  unit: 'count',
  of: (input) => ofAttempts(input, ({ retries }) => Math.round(retries)),
  series: { key: 'retries', csv: 'retries (attempts)', plot: (series) => attemptsPlot(series, 'retries') },
} satisfies Metric;
