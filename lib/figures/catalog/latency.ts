import type { Summary } from '@/lib/shared/model';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import { noPlot, type Metric } from '../metric';
import type { Observed } from '../span';
import { countsKnown, percentilesOf, whyNotPublished } from '../percentiles';
import { isSampled, sampledMeanMs } from '@/lib/rollup/cell';

/** From creation to publishing, of the events published over the span. */
export const latencyMetric: Metric = {
  id: 'latency',
  unit: 'milliseconds',
  help: 'Time from creation to publishing of the events published in the window: the mean, and percentiles where rows report both times.',
  summary: (observed) => ({ latency: latencyOf(observed) }),
  byType: (observed, { happened }) => ({
    p95Ms: happened === null || isSampled(happened) || whyNot(observed) !== null ? null : percentilesOf(happened.latency).p95Ms,
  }),
  plots(line) {
    const { observed, steps } = line;
    const told = steps.map(({ cell }) =>
      cell === null || isSampled(cell) || whyNot(observed) !== null ? null : percentilesOf(cell.latency),
    );
    if (observed.happened !== null && isSampled(observed.happened.all) && !told.some((one) => one !== null && one.events > 0)) {
      const none = noPlot(line, whyNoPercentiles(observed));
      return { p50Ms: none, p95Ms: none, p99Ms: none, latencyCount: none };
    }
    const known = told.find((one) => one !== null)?.known ?? 'unavailable';
    const plot = (values: (number | null)[]) => ({ known, values, why: whyNot(observed) ?? 'not_watched' });
    return {
      p50Ms: plot(told.map((one) => one?.p50Ms ?? null)),
      p95Ms: plot(told.map((one) => one?.p95Ms ?? null)),
      p99Ms: plot(told.map((one) => one?.p99Ms ?? null)),
      latencyCount: plot(told.map((one) => one?.events ?? null)),
    };
  },
};

function whyNot(observed: Observed): UnavailableReason | null {
  return observed.reading.traits.createdAt ? whyNotPublished(observed) : 'no_created_at';
}

/** Of events that are seen at intervals. */
const whyNoPercentiles = ({ reading: { traits } }: Observed): UnavailableReason =>
  traits.publishedState ? 'no_published_at' : 'deleted_on_publish';

function latencyOf(observed: Observed): Summary['latency'] {
  const why = whyNot(observed);
  const none = { p50Ms: null, p95Ms: null, p99Ms: null, meanMs: null, count: null, known: 'unavailable' as const };
  if (why !== null || observed.happened === null) return { ...none, why: why ?? 'not_watched' };
  const { all } = observed.happened;
  if (isSampled(all) && all.published >= 0.5) {
    const [count, atMostMs] = [Math.round(all.published), all.resolutionMs];
    const sampled = { ...none, count, known: 'estimated' as const, atMostMs };
    // None was ever seen waiting: all of them took less than the time between two ticks.
    return all.latencySumMs === 0 ? sampled : { ...sampled, meanMs: sampledMeanMs(all), why: whyNoPercentiles(observed) };
  }
  const { events, ...percentiles } = percentilesOf(all.latency, observed.reading.traits.resolutionMs.latency);
  // Counted by the database's statistics alone: how many went out, not how long they took.
  if (events === 0 && all.published >= 1) return { ...none, why: 'needs_sampling' };
  if (events === 0) return { ...percentiles, known: countsKnown(observed.happened), meanMs: null, count: 0, why: 'no_events' };
  return { ...percentiles, meanMs: all.latencySumMs / events, count: events };
}
