import type { Known, UnavailableReason } from '@/lib/shared/figures/measured';
import type { Observed } from './span';

/** Why nothing can be said about attempts over the span; null when something can. */
export function whyNoAttempts({ reading: { traits }, happened }: Observed): UnavailableReason | null {
  if (!traits.attempts) return 'no_attempts';
  return happened === null ? 'not_watched' : null;
}

/**
 * Attempts are seen when a row's counter changes. What was read afterwards tells only how often a row that went out had
 * been tried, not when.
 */
export function attemptsKnown({ happened }: Observed): Known {
  return happened !== null && happened.complete && !happened.backfilled ? 'exact' : 'estimated';
}
