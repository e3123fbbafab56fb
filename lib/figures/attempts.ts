/** Retries and failed attempts: seen when a row's counter changes. */
import type { Known, Rate, UnavailableReason } from '@/lib/shared/figures/measured';
import { countsRows } from '@/lib/shared/figures/collection';
import type { TypeFigures } from '@/lib/shared/model';
import type { Cell } from '@/lib/rollup/cell';
import { noPlot, type Plot, type SeriesInput } from './series';
import type { MetricInput } from './span';

/** Why attempts over the span are unavailable; null if they are available. */
export function whyNoAttempts({ reading: { traits }, totals, backfill }: MetricInput): UnavailableReason | null {
  if (!traits.attempts) return 'no_attempts';
  if (totals !== null) return null;
  return backfill === null ? 'not_watched' : 'backfilling';
}

/** Rows that are read tell their attempts; what else fails between two looks, or is set back, is missed, and the past tells no times. */
const attemptsKnown = ({ totals }: MetricInput): Known =>
  totals !== null && totals.complete && !totals.backfilled && countsRows(totals.method) && totals.touched.latency.size === 0
    ? 'exact'
    : 'estimated';

/** A figure of the attempts over the span; null if there was no event to compute it from. */
export function ofAttempts(input: MetricInput, valueOf: (all: Cell) => number | null): Rate {
  const why = whyNoAttempts(input);
  if (why !== null || input.totals === null) return { value: null, known: 'unavailable', why: why ?? 'not_watched' };
  const value = valueOf(input.totals.all);
  return { value, known: attemptsKnown(input), ...(value === null ? { why: 'no_events' as const } : {}) };
}

export function attemptsPlot(series: SeriesInput, name: 'retries' | 'failures'): Plot {
  const why = whyNoAttempts(series.input);
  if (why !== null) return noPlot(series, why);
  return { known: attemptsKnown(series.input), values: series.steps.map(({ cell }) => cell?.[name] ?? null) };
}

export function attemptsOfType(input: MetricInput, cell: Cell | null): Pick<TypeFigures, 'retries' | 'errors'> {
  if (whyNoAttempts(input) !== null) return { retries: null, errors: null };
  return { retries: Math.round(cell?.retries ?? 0), errors: Math.round(cell?.failures ?? 0) };
}
