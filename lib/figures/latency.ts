/** How long events took: from creation, and from the relay's claim, to publishing. */
import type { Known, Percentiles, UnavailableReason } from '@/lib/shared/figures/measured';
import type { Summary } from '@/lib/shared/model';
import { isSampled, meanErrorMs, sampledMeanMs, type Cell } from '@/lib/rollup/cell';
import { bucketValue, countOf, RELATIVE_ERROR, type Histogram } from '@/lib/rollup/histogram';
import { noPlot, type Plot, type SeriesInput } from './series';
import { countsKnown, whyNotPublished, type MetricInput } from './span';

const FRACTIONS = [0.5, 0.95, 0.99] as const;
/** With fewer plausible claim times than this share, the column has no claim times: it is rewritten on publishing. */
const PLAUSIBLE_SHARE = 0.9;

/** None while part of the span is still to be read: newest first, so that a bad hour would be taken for a bad week. */
const whyNoneYet = ({ backfill }: MetricInput): UnavailableReason | null => (backfill === null ? null : 'backfilling');

const whyNoLatency = (input: MetricInput): UnavailableReason | null =>
  input.reading.traits.createdAt ? whyNotPublished(input) : 'no_created_at';

const noPercentiles = (known: Known, why: UnavailableReason): Percentiles => ({ p50Ms: null, p95Ms: null, p99Ms: null, known, why });

/** For events that are only seen at intervals. */
const whyNoPercentiles = ({ reading: { traits } }: MetricInput): UnavailableReason =>
  traits.publishedState ? 'no_published_at' : 'deleted_on_publish';

/** From creation to publishing, of the events published over the span; of those that operators changed apart. */
export function latencyOf(input: MetricInput): Summary['latency'] {
  const why = whyNoLatency(input) ?? whyNoneYet(input);
  const unknown = { count: null, p95Ms: null, known: 'unavailable' } as const;
  const none = (reason: UnavailableReason, touched: Summary['latency']['touched'] = unknown) => {
    return { ...noPercentiles('unavailable', reason), meanMs: null, count: null, touched };
  };
  if (why !== null || input.totals === null) return none(why ?? 'not_watched');
  const { all: counted, touched: apart } = input.totals;
  const touched = {
    count: Math.round(countOf(apart.latency)),
    p95Ms: quantiles(apart.latency, [0.95])[0] ?? null,
    known: countsKnown(input.totals) === 'sampled' ? ('sampled' as const) : ('estimated' as const),
  };
  const all = { ...counted, published: counted.published - touched.count };
  if (isSampled(all) && all.published >= 0.5) {
    const sampled = { p50Ms: null, p95Ms: null, p99Ms: null, known: 'estimated' as const, count: Math.round(all.published), touched };
    // None was seen waiting: each took less than the time between two ticks.
    if (all.latencySumMs === 0) return { ...sampled, meanMs: null, atMostMs: all.resolutionMs };
    const errorMs = meanErrorMs(all) + input.reading.traits.resolutionMs.latency;
    const error = Number.isFinite(errorMs) ? { meanErrorMs: errorMs } : {};
    return { ...sampled, meanMs: sampledMeanMs(all), ...error, why: whyNoPercentiles(input) };
  }
  const { events, ...percentiles } = percentilesOf(all.latency, input, input.reading.traits.resolutionMs.latency);
  // Only counted by the database's statistics: how many were published, not how long they took.
  if (events === 0 && all.published >= 1) return none('needs_sampling', touched);
  if (events === 0) return { ...percentiles, known: countsKnown(input.totals), meanMs: null, count: 0, why: 'no_events', touched };
  return { ...percentiles, meanMs: all.latencySumMs / events, count: events, touched };
}

/** null unless the events of the cell have latencies of their own. */
const percentilesIn = (input: MetricInput, cell: Cell | null): CountedPercentiles | null =>
  cell === null || isSampled(cell) || whyNoLatency(input) !== null ? null : percentilesOf(cell.latency, input);

export const p95OfType = (input: MetricInput, cell: Cell | null): number | null =>
  whyNoneYet(input) === null ? (percentilesIn(input, cell)?.p95Ms ?? null) : null;

export function latencyPlots(series: SeriesInput): Record<'p50Ms' | 'p95Ms' | 'p99Ms' | 'latencyCount', Plot> {
  const { input, steps } = series;
  const each = steps.map(({ cell }) => percentilesIn(input, cell));
  if (input.totals !== null && isSampled(input.totals.all) && !each.some((one) => one !== null && one.events > 0)) {
    const none = noPlot(series, whyNoPercentiles(input));
    return { p50Ms: none, p95Ms: none, p99Ms: none, latencyCount: none };
  }
  const known = each.find((one) => one !== null)?.known ?? 'unavailable';
  const why = whyNoLatency(input) ?? 'not_watched';
  const plot = (name: 'p50Ms' | 'p95Ms' | 'p99Ms' | 'events'): Plot => ({ known, values: each.map((one) => one?.[name] ?? null), why });
  return { p50Ms: plot('p50Ms'), p95Ms: plot('p95Ms'), p99Ms: plot('p99Ms'), latencyCount: plot('events') };
}

/** From the last claim to publishing, if the table keeps a claim time. */
export function processingOf(input: MetricInput): Percentiles {
  const { totals, reading } = input;
  const sampled = totals !== null && countOf(totals.all.processing) > 0;
  if (!reading.traits.claimTime && !sampled) return noPercentiles('unavailable', 'no_claim_time');
  const why = whyNoneYet(input);
  if (totals === null || why !== null) return noPercentiles('unavailable', why ?? whyNotPublished(input) ?? 'not_watched');
  const { all } = totals;
  if (all.published < 0.5) return noPercentiles('exact', 'no_events');
  const { events, ...percentiles } = percentilesOf(all.processing, input, reading.traits.resolutionMs.processing);
  return events < all.published * PLAUSIBLE_SHARE ? noPercentiles('unavailable', 'no_claim_time') : percentiles;
}

type CountedPercentiles = Percentiles & { events: number };

/** A finer resolution than this is taken for exact. */
const COARSE_MS = 1;

/** `tableMs`: resolution of the table's times; shorter durations are "at most" that, others off by as much, or nobody knows where time is missing. */
function percentilesOf(histogram: Histogram, { totals }: MetricInput, tableMs = 0): CountedPercentiles {
  const coarse = tableMs >= COARSE_MS;
  const shown = quantiles(histogram, FRACTIONS).map((ms) => (coarse && ms === 0 ? null : ms));
  const [p50Ms = null, p95Ms = null, p99Ms = null] = shown;
  const events = Math.round(countOf(histogram));
  const found: CountedPercentiles = { p50Ms, p95Ms, p99Ms, known: 'estimated', events };
  if (events === 0) return found;
  const errorShare = RELATIVE_ERROR + (coarse ? tableMs / Math.min(...shown.map((ms) => ms ?? Infinity)) : 0);
  return { ...found, ...(coarse ? { atMostMs: tableMs } : {}), ...(totals?.complete === true ? { errorShare } : {}) };
}

/** In milliseconds, as `percentile_cont`: interpolated between the two nearest events. null for an empty histogram. */
export function quantiles(histogram: Histogram, fractions: readonly number[]): (number | null)[] {
  const total = countOf(histogram);
  if (total <= 0) return fractions.map(() => null);
  const cells = [...histogram].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  const valueAt = (rank: number): number => {
    let seen = 0;
    for (const [bucket, count] of cells) {
      seen += count;
      // Ranks start at zero; fractions of an event leave rounding errors.
      if (rank < seen - 1e-9) return bucketValue(bucket);
    }
    return bucketValue(cells.at(-1)?.[0] ?? 0);
  };
  return fractions.map((fraction) => {
    const rank = Math.max(0, fraction * (total - 1));
    const below = Math.floor(rank + 1e-9);
    const low = valueAt(below);
    return low + (valueAt(below + 1) - low) * Math.max(0, rank - below);
  });
}
