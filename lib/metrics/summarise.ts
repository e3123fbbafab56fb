import { unavailable, type Known, type UnavailableReason } from '@/lib/shared/measured';
import type { Series, SeriesPoint, Summary, TypeFigures } from '@/lib/shared/model';
import { spanSeconds, stepSecondsOf, type SeriesSpan, type Window } from '@/lib/shared/windows';
import type { Plot, PlotKey } from './metric';
import { METRICS } from './metric-registry.gen';
import { pointSteps, type Reading } from './reading';

/** A summary without its verdict. */
export type SummaryFigures = Omit<Summary, 'diagnosis'>;

/** The figures of a reading, each metric putting in its own part. */
export function summarise(reading: Reading): SummaryFigures {
  const none = noFigures(reading.window, reading.asOf, 'not_in_schema');
  const byType = reading.types.map(
    (row): TypeFigures =>
      Object.assign(
        { type: row.type, waiting: null, dead: null, retries: null, errors: null, p95Ms: null },
        ...METRICS.map((metric) => metric.byType?.(reading, (name) => row.figures[metric.id]?.[name])),
      ) as TypeFigures,
  );
  return Object.assign(none, ...METRICS.map((metric) => metric.summary?.(reading)), { byType }) as SummaryFigures;
}

/** The series of a reading: points aligned to their step, so that they stay put from one reading to the next. */
export function plot(reading: Reading): Series {
  const plots: Partial<Record<PlotKey, Plot>> = Object.assign({}, ...METRICS.map((metric) => metric.plots?.(reading)));
  const value = (key: PlotKey, index: number): number | null => plots[key]?.values[index] ?? null;
  const known = (key: PlotKey): Known => plots[key]?.known ?? 'unavailable';
  const points = pointSteps(reading).map((step, index): SeriesPoint => ({
    at: new Date(step * reading.stepSeconds * 1_000).toISOString(),
    waiting: value('waiting', index),
    dead: value('dead', index),
    created: value('created', index),
    published: value('published', index),
    errors: value('errors', index),
    p50Ms: value('p50Ms', index),
    p95Ms: value('p95Ms', index),
    p99Ms: value('p99Ms', index),
    retries: null,
    oldestAgeMs: null,
    latencyCount: value('published', index),
    heat: null,
    gap: false,
    provisional: false,
  }));
  return {
    asOf: reading.asOf,
    window: reading.window,
    type: null,
    stepSeconds: reading.stepSeconds,
    points,
    known: {
      waiting: known('waiting'),
      dead: known('dead'),
      created: known('created'),
      published: known('published'),
      errors: known('errors'),
      latency: known('p50Ms'),
    },
    heatBoundsMs: [],
  };
}

/** What is said about an outbox of which nothing can be said: every figure unavailable for one reason. */
export function noFigures(window: Window, asOf: string, why: UnavailableReason): SummaryFigures {
  const count = unavailable(why);
  const percentiles = { p50Ms: null, p95Ms: null, p99Ms: null, known: 'unavailable' as const, why };
  return {
    asOf,
    window,
    depth: { pending: count, retrying: count, processing: count, dead: count, waiting: count },
    oldestPendingAt: null,
    lastPublishedAt: null,
    latency: { ...percentiles, count: null, meanMs: null },
    processing: percentiles,
    throughput: { createdPerMinute: null, publishedPerMinute: null, known: 'unavailable', why },
    retries: count,
    errorRate: { value: null, known: 'unavailable', why },
    byType: [],
  };
}

/** A series that has every point and no value. */
export function noSeries(span: SeriesSpan, asOf: string, type: string | null = null): Series {
  const stepSeconds = stepSecondsOf(span);
  const count = Math.ceil(spanSeconds(span) / stepSeconds);
  // The step under way is the last of a window; a span of its own ends before its end.
  const end = 'window' in span ? Date.parse(asOf) / 1_000 : Date.parse(span.to) / 1_000 - 1;
  const lastStep = Math.floor(end / stepSeconds);
  const points = pointSteps({ points: { count, lastStep } }).map((step) => ({
    at: new Date(step * stepSeconds * 1_000).toISOString(),
    waiting: null,
    dead: null,
    created: null,
    published: null,
    errors: null,
    retries: null,
    oldestAgeMs: null,
    p50Ms: null,
    p95Ms: null,
    p99Ms: null,
    latencyCount: null,
    heat: null,
    gap: false,
    provisional: false,
  }));
  const unknown = 'unavailable' as const;
  return {
    asOf,
    window: 'window' in span ? span.window : null,
    type,
    stepSeconds,
    points,
    heatBoundsMs: [],
    known: { waiting: unknown, dead: unknown, created: unknown, published: unknown, errors: unknown, latency: unknown },
  };
}
