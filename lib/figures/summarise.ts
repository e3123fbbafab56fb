/** The figures of a window: every metric, or why it has no value. */
import { unavailable, type UnavailableReason } from '@/lib/shared/figures/measured';
import { metricFigures, type MetricId } from '@/lib/shared/figures/metrics';
import type { Window } from '@/lib/shared/figures/windows';
import type { Summary, TypeFigures } from '@/lib/shared/model';
import { TYPES_SHOWN } from '@/lib/live/reading-sql';
import { slotsIn, type Aggregates } from '@/lib/live/reading';
import { attemptsOfType, whyNoAttempts } from './attempts';
import { DEPTH, depthOf, depthOfType, OLDEST, oldestPendingAt } from './depth';
import { latencyOf, p95OfType, processingOf } from './latency';
import { slotHealth } from '@/lib/outbox/replication-slots/health';
import { METRIC_FILES } from './metric-registry.gen';
import type { Metric } from './series';
import { spanOf, type MetricInput } from './span';
import { LAST_PUBLISHED, lastPublishedAt, throughputOf, whyNoLastPublished } from './throughput';

export const METRIC_AGGREGATES: readonly Aggregates[] = [DEPTH, LAST_PUBLISHED, OLDEST];

const METRICS_BY_ID = Object.fromEntries(METRIC_FILES.map((metric) => [metric.id, metric])) as Record<MetricId, Metric>;

export type SummaryFigures = Omit<Summary, 'diagnosis'>;

export function summarise(input: MetricInput, window: Window): SummaryFigures {
  const { reading, span } = input;
  const whyNone = whyNoLastPublished(reading);
  return {
    asOf: reading.asOf,
    from: new Date(span.fromMs).toISOString(),
    window,
    backfill: input.backfill,
    depth: depthOf(reading),
    oldestPendingAt: oldestPendingAt(reading),
    lastPublishedAt: lastPublishedAt(reading),
    ...(whyNone === null ? {} : { lastPublishedWhy: whyNone }),
    latency: latencyOf(input),
    processing: processingOf(input),
    throughput: throughputOf(input),
    ...metricFigures((id) => METRICS_BY_ID[id].of(input)),
    byType: typesOf(input),
    slot: slotHealth(reading.traits.slots, slotsIn(reading)),
  };
}

/** Types with the most waiting and dead events first, then those published most. */
function typesOf(input: MetricInput): TypeFigures[] {
  const { reading, totals } = input;
  const cells = totals?.byType ?? new Map<string, never>();
  const depth = depthOf(reading);
  const retries = whyNoAttempts(input) ?? 'not_watched';
  const waiting = depth.waiting.why ?? 'too_many_rows';
  const dead = depth.dead.why ?? 'too_many_rows';
  const reasons = { waiting, dead, retries, errors: retries, p95Ms: latencyOf(input).why ?? 'no_events' };
  const rows = [...new Set([...reading.types.map(({ type }) => type), ...cells.keys()])].map((type) => {
    const cell = cells.get(type) ?? null;
    const row: TypeFigures = { type, ...depthOfType(reading, type), ...attemptsOfType(input, cell), p95Ms: p95OfType(input, cell) };
    return { row: { ...row, ...whyNull(row, reasons) }, published: cell?.published ?? 0 };
  });
  const urgent = ({ waiting, dead }: TypeFigures): number => (waiting ?? 0) + (dead ?? 0);
  return rows
    .sort((a, b) => urgent(b.row) - urgent(a.row) || b.published - a.published || (a.row.type < b.row.type ? -1 : 1))
    .slice(0, TYPES_SHOWN)
    .map(({ row }) => row);
}

function whyNull(row: TypeFigures, reasons: Required<NonNullable<TypeFigures['why']>>): Pick<TypeFigures, 'why'> {
  const missing = Object.entries(reasons).filter(([figure]) => row[figure as keyof typeof reasons] === null);
  return missing.length === 0 ? {} : { why: Object.fromEntries(missing) };
}

/** A summary in which every figure is unavailable for the same reason. */
export function noFigures(window: Window, asOf: string, why: UnavailableReason): SummaryFigures {
  const count = unavailable(why);
  const none = { known: 'unavailable', why } as const;
  const percentiles = { p50Ms: null, p95Ms: null, p99Ms: null, ...none };
  return {
    asOf,
    from: new Date(spanOf({ window }, asOf).fromMs).toISOString(),
    window,
    backfill: null,
    depth: { pending: count, retrying: count, processing: count, dead: count, waiting: count },
    oldestPendingAt: null,
    lastPublishedAt: null,
    lastPublishedWhy: why,
    latency: { ...percentiles, count: null, meanMs: null, touched: { count: null, p95Ms: null, known: 'unavailable' } },
    processing: percentiles,
    throughput: { createdPerMinute: null, publishedPerMinute: null, ...none },
    ...metricFigures(() => ({ value: null, ...none })),
    byType: [],
    slot: null,
  };
}
