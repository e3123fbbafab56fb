import type { Known, Percentiles, UnavailableReason } from '@/lib/shared/figures/measured';
import type { Metric } from '../metric';
import type { Observed } from '../span';
import { percentilesOf, whyNotPublished } from '../percentiles';
import { countOf } from '@/lib/rollup/histogram';

/** Below this share of plausible claim times the column is no claim time: a row rewritten when published says nothing. */
const PLAUSIBLE_SHARE = 0.9;

/** From the relay's taking of an event to its publishing. */
export const processingMetric: Metric = {
  id: 'processing',
  unit: 'milliseconds',
  help: 'Time from the last claim to publishing of the events published in the window, where the table keeps a time of claim.',
  summary: (observed) => ({ processing: processingOf(observed) }),
};

function processingOf(observed: Observed): Percentiles {
  const none = (known: Known, why: UnavailableReason): Percentiles => ({ p50Ms: null, p95Ms: null, p99Ms: null, known, why });
  const { happened } = observed;
  const sampled = happened !== null && countOf(happened.all.processing) > 0;
  if (!observed.reading.traits.claimTime && !sampled) return none('unavailable', 'no_claim_time');
  if (happened === null) return none('unavailable', whyNotPublished(observed) ?? 'not_watched');
  const { all } = happened;
  if (all.published < 0.5) return none('exact', 'no_events');
  const { events, ...percentiles } = percentilesOf(all.processing, observed.reading.traits.resolutionMs.processing);
  if (events < all.published * PLAUSIBLE_SHARE) return none('unavailable', 'no_claim_time');
  return percentiles;
}
