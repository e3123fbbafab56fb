import { attemptsPlot, ofAttempts } from '../attempts';
import type { Metric } from '../series';

/** Failed attempts divided by failed attempts and published events together. */
export const shareOfFailuresMetric = {
  id: 'errorRate',
  unit: 'share',
  of: (input) => ofAttempts(input, ({ failures, published }) => (failures + published < 0.5 ? null : failures / (failures + published))),
  series: { key: 'errors', csv: 'errors (attempts)', plot: (series) => attemptsPlot(series, 'failures') },
} satisfies Metric;
