import { unavailable, type Known, type UnavailableReason } from '@/lib/shared/figures/measured';
import type { Series, SeriesLine, SeriesPoint, Summary, TypeFigures } from '@/lib/shared/model';
import type { Window } from '@/lib/shared/figures/windows';
import { heatOf, HEAT_BOUNDS_MS } from './heat';
import { stepsOf, type Line } from './series';
import type { Plot, PlotKey } from './metric';
import { METRICS } from './metric-registry.gen';
import { spanOf, type Observed, type Span } from './span';
import { TYPES_SHOWN } from '@/lib/live/reading-sql';
import { typeOfSeries } from '@/lib/rollup/series-key';

/** The plot by which each line is known. */
const PLOT_OF = {
  waiting: 'waiting',
  dead: 'dead',
  created: 'created',
  published: 'published',
  errors: 'errors',
  latency: 'p50Ms',
} as const satisfies Record<SeriesLine, PlotKey>;
const LINES = Object.keys(PLOT_OF) as SeriesLine[];

/** A summary without its verdict. */
export type SummaryFigures = Omit<Summary, 'diagnosis'>;

/** The figures of a window, each metric putting in its own part. */
export function summarise(observed: Observed, window: Window): SummaryFigures {
  const none = noFigures(window, observed.reading.asOf, 'not_in_schema', observed.span);
  return Object.assign(none, ...METRICS.map((metric) => metric.summary?.(observed)), { byType: typesOf(observed) }) as SummaryFigures;
}

/** Types with most waiting and dead events, then those published most. */
function typesOf(observed: Observed): TypeFigures[] {
  const live = new Map(observed.reading.types.map((row) => [row.type, row.figures]));
  const happened = observed.happened?.byType ?? new Map<string, never>();
  const rows = [...new Set([...live.keys(), ...happened.keys()])].map((type) => {
    const cell = happened.get(type) ?? null;
    const row = Object.assign(
      { type, waiting: null, dead: null, retries: null, errors: null, p95Ms: null },
      ...METRICS.map((metric) =>
        metric.byType?.(observed, {
          // A type of which no row was read has none, unless the list of types was cut.
          now: (name) => (live.has(type) || live.size >= TYPES_SHOWN ? live.get(type)?.[metric.id]?.[name] : 0),
          happened: cell,
        }),
      ),
    ) as TypeFigures;
    return { row, published: cell?.published ?? 0 };
  });
  const urgent = ({ waiting, dead }: TypeFigures): number => (waiting ?? 0) + (dead ?? 0);
  return rows
    .sort((a, b) => urgent(b.row) - urgent(a.row) || b.published - a.published || (a.row.type < b.row.type ? -1 : 1))
    .slice(0, TYPES_SHOWN)
    .map(({ row }) => row);
}

/** A series: points aligned to their step, so that they stay put from one reading to the next. */
export function plot(line: Line): Series {
  const { reading, span } = line.observed;
  const plots: Partial<Record<PlotKey, Plot>> = Object.assign({}, ...METRICS.map((metric) => metric.plots?.(line)));
  const value = (key: PlotKey, index: number): number | null => plots[key]?.values[index] ?? null;
  const known = (key: PlotKey): Known => plots[key]?.known ?? 'unavailable';
  const unknown = LINES.filter((name) => known(PLOT_OF[name]) === 'unavailable');
  const points = line.steps.map(({ step, cell, provisional }, index): SeriesPoint => ({
    at: timeOf(step, span),
    waiting: value('waiting', index),
    dead: value('dead', index),
    created: value('created', index),
    published: value('published', index),
    errors: value('errors', index),
    retries: value('retries', index),
    oldestAgeMs: value('oldestAgeMs', index),
    p50Ms: value('p50Ms', index),
    p95Ms: value('p95Ms', index),
    p99Ms: value('p99Ms', index),
    latencyCount: value('latencyCount', index),
    heat: cell === null || known('p50Ms') === 'unavailable' ? null : heatOf(cell.latency),
    gap: cell === null,
    provisional,
  }));
  return {
    asOf: reading.asOf,
    window: span.window,
    type: typeOfSeries(line.series),
    stepSeconds: span.stepSeconds,
    points,
    known: byLine((name) => known(PLOT_OF[name])),
    why: byLine((name) => plots[PLOT_OF[name]]?.why ?? 'not_in_schema', unknown),
    heatBoundsMs: [...HEAT_BOUNDS_MS],
  };
}

/** What is said about an outbox of which nothing can be said: every figure unavailable for one reason. */
export function noFigures(window: Window, asOf: string, why: UnavailableReason, span = spanOf({ window }, asOf)): SummaryFigures {
  const count = unavailable(why);
  const percentiles = { p50Ms: null, p95Ms: null, p99Ms: null, known: 'unavailable' as const, why };
  return {
    asOf,
    from: new Date(span.fromMs).toISOString(),
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
    slot: null,
  };
}

/** A series that has every point and no value, because nothing could be read or computed. */
export function noSeries(span: Span, asOf: string, why: UnavailableReason, type: string | null = null): Series {
  return {
    asOf,
    window: span.window,
    type,
    stepSeconds: span.stepSeconds,
    points: stepsOf(span).map((step) => ({
      at: timeOf(step, span),
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
      gap: true,
      provisional: false,
    })),
    known: byLine(() => 'unavailable'),
    why: byLine(() => why),
    heatBoundsMs: [],
  };
}

const byLine = <Value>(valueOf: (line: SeriesLine) => Value, lines = LINES): Record<SeriesLine, Value> =>
  Object.fromEntries(lines.map((line) => [line, valueOf(line)])) as Record<SeriesLine, Value>;

const timeOf = (step: number, { stepSeconds }: Span): string => new Date(step * stepSeconds * 1_000).toISOString();
