import type { Known, Percentiles, UnavailableReason } from '@/lib/shared/figures/measured';
import { countsRows } from '@/lib/shared/figures/collection';
import type { Happened, Observed } from './span';
import { countOf, quantiles, RELATIVE_ERROR, type Histogram } from '@/lib/rollup/histogram';
import { HOW, isSampled } from '@/lib/rollup/cell';

export interface ToldPercentiles extends Percentiles {
  /** How many events they are of. */
  events: number;
}

const FRACTIONS = [0.5, 0.95, 0.99] as const;

/** Why nothing can be said about what was published over the span; null when something can. */
export function whyNotPublished({ reading: { traits }, happened }: Observed): UnavailableReason | null {
  // Rows that go are cleared away, whether or not they were read from the log.
  if (traits.slots !== null) return 'external_relay';
  if (happened !== null) return null;
  return traits.publishedState || traits.publishedAt ? 'not_watched' : 'no_published_at';
}

/** How counts over the span are known. */
export function countsKnown({ all, method, complete, provisional }: Happened): Known {
  if (isSampled(all) || !countsRows(method)) return 'sampled';
  const uncertain = (all.how & (HOW.statistics | HOW.purgedYoung)) !== 0;
  return complete && !provisional && !uncertain ? 'exact' : 'estimated';
}

/** Times nearer together than this are as near as anybody asks. */
const COARSE_MS = 1;

/**
 * The three percentiles of durations, as far as they can be told. `tableMs`: how far apart two times of the table are; where
 * it keeps seconds, an event that went out within one took "at most" that, and every other duration is as much off.
 */
export function percentilesOf(histogram: Histogram, tableMs = 0): ToldPercentiles {
  const coarse = tableMs >= COARSE_MS;
  const tooShort = (ms: number): boolean => coarse && ms === 0;
  const told = quantiles(histogram, FRACTIONS).map((ms) => (ms === null || tooShort(ms) ? null : ms));
  const [p50Ms = null, p95Ms = null, p99Ms = null] = told;
  const events = Math.round(countOf(histogram));
  return {
    p50Ms,
    p95Ms,
    p99Ms,
    known: 'estimated',
    events,
    ...(coarse && events > 0 ? { atMostMs: tableMs } : {}),
    ...(events === 0 ? {} : { errorShare: RELATIVE_ERROR + (coarse ? tableMs / Math.min(...told.map((ms) => ms ?? Infinity)) : 0) }),
  };
}
