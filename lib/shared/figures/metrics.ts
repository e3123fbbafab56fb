/** Metrics for every place that shows one: tile, HTTP, CSV column, gauge. Each is a file of `lib/figures/metrics`. */
import type { Count, Rate } from './measured';
import { METRICS } from './metrics.gen';

export type MetricUnit = 'count' | 'share' | 'ms' | 'perMinute';
export type MetricId = (typeof METRICS)[number]['id'];
export type MetricSeries = NonNullable<(typeof METRICS)[number]['series']>['key'];

/** As screens and HTTP clients get them: counts have `count`, others `value`. */
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
