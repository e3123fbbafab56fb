/** Metrics that are shown wherever one is: a tile, the answers to scripts, a column of the CSV, a gauge. Each is a file of `lib/figures/metrics`. */
import type { Count, Rate } from './measured';
import { METRICS } from './metrics.gen';

/** How a metric's number is said. */
export type MetricUnit = 'count' | 'share' | 'ms' | 'perMinute';
export type MetricId = (typeof METRICS)[number]['id'];
export type MetricSeries = NonNullable<(typeof METRICS)[number]['series']>['key'];

/** As screens and scripts get them: counts under `count`. */
export type MetricFigures = { [M in (typeof METRICS)[number] as M['id']]: M['unit'] extends 'count' ? Count : Rate };

export interface ShownMetric {
  id: MetricId;
  unit: MetricUnit;
  series: { key: MetricSeries; csv: string } | null;
  gauge: { family: string; help: string } | null;
}
export const SHOWN_METRICS: readonly ShownMetric[] = METRICS;

export const metricFigures = (valueOf: (id: MetricId) => Rate): MetricFigures =>
  Object.fromEntries(
    SHOWN_METRICS.map(({ id, unit }) => {
      const { value, ...how } = valueOf(id);
      return [id, unit === 'count' ? { count: value, ...how } : { value, ...how }];
    }),
  ) as MetricFigures;

export const amountOf = (figure: Count | Rate): number | null => ('count' in figure ? figure.count : figure.value);
