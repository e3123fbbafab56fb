/** The series of a span for charts, CSV and scripts: every line of it, or why it has no value. */
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import { SHOWN_METRICS, type MetricSeries } from '@/lib/shared/figures/metrics';
import type { Series, SeriesLine, SeriesPoint, SeriesValues } from '@/lib/shared/model';
import { bucketValue, countsByBound } from '@/lib/rollup/histogram';
import { typeOfSeries } from '@/lib/rollup/cell';
import { depthPlots } from './depth';
import { latencyPlots } from './latency';
import { METRIC_FILES } from './metric-registry.gen';
import { stepsOf, type Plot, type SeriesInput } from './series';
import type { Span } from './span';
import { throughputPlots } from './throughput';

const LINES = ['waiting', 'dead', 'created', 'published', 'errors', 'latency'] as const satisfies SeriesLine[];
/** The plot whose `known` and `why` a line has. */
const plotOf = (line: SeriesLine): keyof SeriesValues => (line === 'latency' ? 'p50Ms' : line);

/** Points are aligned to their step, so that they do not move from one reading to the next. */
export function seriesOf(series: SeriesInput): Series {
  const { reading, span } = series.input;
  const ofRows = { ...depthPlots(series), ...throughputPlots(series) };
  const plots: Record<keyof SeriesValues, Plot> = { ...ofRows, ...metricPlots(series), ...latencyPlots(series) };
  const known = byLine((line) => plots[plotOf(line)].known);
  return {
    asOf: reading.asOf,
    window: span.window,
    type: typeOfSeries(series.series),
    stepSeconds: span.stepSeconds,
    points: series.steps.map(({ step, cell, provisional }, index): SeriesPoint => ({
      at: timeOf(step, span),
      ...valuesBy((key) => plots[key].values[index] ?? null),
      heat: cell === null || known.latency === 'unavailable' ? null : countsByBound(cell.latency, HEAT_BOUNDS_MS, bucketValue),
      gap: cell === null,
      provisional,
    })),
    known,
    why: byLine(
      (line) => plots[plotOf(line)].why ?? 'not_in_schema',
      LINES.filter((line) => known[line] === 'unavailable'),
    ),
    heatBoundsMs: [...HEAT_BOUNDS_MS],
  };
}

/** A series with every point and no value, because nothing could be read or computed. */
export function noSeries(span: Span, asOf: string, why: UnavailableReason, type: string | null = null): Series {
  return {
    asOf,
    window: span.window,
    type,
    stepSeconds: span.stepSeconds,
    points: stepsOf(span).map((step) => ({ at: timeOf(step, span), ...valuesBy(() => null), heat: null, gap: true, provisional: false })),
    known: byLine(() => 'unavailable'),
    why: byLine(() => why),
    heatBoundsMs: [],
  };
}

const KEYS: readonly (keyof SeriesValues)[] = [
  ...(['waiting', 'dead', 'created', 'published', 'oldestAgeMs', 'p50Ms', 'p95Ms', 'p99Ms', 'latencyCount'] as const),
  ...SHOWN_METRICS.flatMap(({ series }) => series?.key ?? []),
];

const valuesBy = (valueOf: (key: keyof SeriesValues) => number | null): SeriesValues =>
  Object.fromEntries(KEYS.map((key) => [key, valueOf(key)])) as unknown as SeriesValues;

function metricPlots(input: SeriesInput): Record<MetricSeries, Plot> {
  const plots = METRIC_FILES.flatMap(({ series }) => (series === undefined ? [] : [[series.key, series.plot(input)]]));
  return Object.fromEntries(plots) as Record<MetricSeries, Plot>;
}

const byLine = <Value>(valueOf: (line: SeriesLine) => Value, lines: readonly SeriesLine[] = LINES): Record<SeriesLine, Value> =>
  Object.fromEntries(lines.map((line) => [line, valueOf(line)])) as Record<SeriesLine, Value>;

const timeOf = (step: number, { stepSeconds }: Span): string => new Date(step * stepSeconds * 1_000).toISOString();

/** Upper bounds of the rows of a heat map, in milliseconds: about three per factor of ten, at familiar times; the last row has none. */
const HEAT_BOUNDS_MS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 60_000, 300_000, 1_800_000] as const;
