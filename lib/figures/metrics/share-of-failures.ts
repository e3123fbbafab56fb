import { attemptsPlot, ofAttempts } from '../attempts';
import type { Metric } from '../series';

/** Failed attempts over those and the events published. */
export const shareOfFailuresMetric = {
  id: 'errorRate',
  unit: 'share',
  of: (input) => ofAttempts(input, ({ failures, published }) => (failures + published < 0.5 ? null : failures / (failures + published))),
  series: { key: 'errors', csv: 'errors (attempts)', plot: (series) => attemptsPlot(series, 'failures') },
} satisfies Metric;
