import type { Summary } from '@/lib/shared/model';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { Metric } from '../metric';
import type { Observed } from '../span';
import { countsKnown, percentilesOf, whyNotPublished } from '../percentiles';

/** From creation to publishing, of the events published over the span. */
export const latencyMetric: Metric = {
  id: 'latency',
  unit: 'milliseconds',
  help: 'Time from creation to publishing of the events published in the window: the 50th, 95th and 99th percentile.',
  summary: (observed) => ({ latency: latencyOf(observed) }),
  byType: (observed, { happened }) => ({
    p95Ms: happened === null || whyNot(observed) !== null ? null : percentilesOf(happened.latency, happened).p95Ms,
  }),
  plots({ observed, steps }) {
    const told = steps.map(({ cell }) => (cell === null || whyNot(observed) !== null ? null : percentilesOf(cell.latency, cell)));
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

function latencyOf(observed: Observed): Summary['latency'] {
  const why = whyNot(observed);
  const none = { p50Ms: null, p95Ms: null, p99Ms: null, meanMs: null, count: null, known: 'unavailable' as const };
  if (why !== null || observed.happened === null) return { ...none, why: why ?? 'not_watched' };
  const { all } = observed.happened;
  const { events, ...percentiles } = percentilesOf(all.latency, all, observed.reading.traits.resolutionMs.latency);
  // Counted by the database's statistics alone: how many went out, not how long they took.
  if (events === 0 && all.published >= 1) return { ...none, why: 'needs_sampling' };
  if (events === 0) return { ...percentiles, known: countsKnown(observed.happened), meanMs: null, count: 0, why: 'no_events' };
  return { ...percentiles, meanMs: all.latencySumMs / events, count: events };
}
