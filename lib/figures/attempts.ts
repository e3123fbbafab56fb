/** Attempts beyond the first, and the share of attempts that failed: seen when a row's counter changes. */
import { unavailable, type Count, type Known, type Rate, type UnavailableReason } from '@/lib/shared/figures/measured';
import type { TypeFigures } from '@/lib/shared/model';
import type { Cell } from '@/lib/rollup/cell';
import { noPlot, type Plot, type SeriesInput } from './series';
import type { MetricInput } from './span';

/** Why nothing can be said about attempts over the span; null when something can. */
function whyNoAttempts({ reading: { traits }, totals }: MetricInput): UnavailableReason | null {
  if (!traits.attempts) return 'no_attempts';
  return totals === null ? 'not_watched' : null;
}

/** What was read afterwards tells only how often a row that went out had been tried, not when. */
const attemptsKnown = ({ totals }: MetricInput): Known =>
  totals !== null && totals.complete && !totals.backfilled ? 'exact' : 'estimated';

export function retriesOf(input: MetricInput): Count {
  const why = whyNoAttempts(input);
  if (why !== null || input.totals === null) return unavailable(why ?? 'not_watched');
  return { count: Math.round(input.totals.all.retries), known: attemptsKnown(input) };
}

/** Failed attempts over those and the events published. */
export function errorRateOf(input: MetricInput): Rate {
  const why = whyNoAttempts(input);
  if (why !== null || input.totals === null) return { value: null, known: 'unavailable', why: why ?? 'not_watched' };
  const { failures, published } = input.totals.all;
  const known = attemptsKnown(input);
  return failures + published < 0.5 ? { value: null, known, why: 'no_events' } : { value: failures / (failures + published), known };
}

export function attemptsOfType(input: MetricInput, cell: Cell | null): Pick<TypeFigures, 'retries' | 'errors'> {
  if (whyNoAttempts(input) !== null) return { retries: null, errors: null };
  return { retries: Math.round(cell?.retries ?? 0), errors: Math.round(cell?.failures ?? 0) };
}

export function attemptsPlots(series: SeriesInput): Record<'retries' | 'errors', Plot> {
  const why = whyNoAttempts(series.input);
  const plot = (name: 'retries' | 'failures'): Plot =>
    why === null
      ? { known: attemptsKnown(series.input), values: series.steps.map(({ cell }) => cell?.[name] ?? null) }
      : noPlot(series, why);
  return { retries: plot('retries'), errors: plot('failures') };
}
