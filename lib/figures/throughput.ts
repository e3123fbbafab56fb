/** Events created and published per minute of the watched part of the window, and when the last one was published. */
import type { Known, UnavailableReason } from '@/lib/shared/figures/measured';
import type { Summary } from '@/lib/shared/model';
import { actsIn, figuresIn, type Aggregates, type Reading } from '@/lib/live/reading';
import { ACTED_MAX, ACTED_SECONDS } from '@/lib/outbox/acted';
import { iso } from '@/lib/outbox/scan/sql-terms';
import { OLDEST } from './depth';
import { noPlot, type Plot, type SeriesInput } from './series';
import { countsKnown, whyNotPublished, type MetricInput, type SpanTotals } from './span';

export const LAST_PUBLISHED: Aggregates<{ at: string | null; none: boolean }> = {
  owner: 'last-published',
  figures: ({ lastPublished, nothingOut }) => ({ at: iso(lastPublished), none: nothingOut }),
};

export const lastPublishedAt = (reading: Reading): string | null => figuresIn(reading, LAST_PUBLISHED).at ?? null;

/** Why no time of the last publishing is known: none is written, nothing was ever published, or it was not looked at. */
export function whyNoLastPublished(reading: Reading): UnavailableReason | null {
  if (lastPublishedAt(reading) !== null) return null;
  if (!reading.traits.publishedAt) return 'no_published_at';
  return figuresIn(reading, LAST_PUBLISHED).none === true ? 'no_events' : 'too_many_rows';
}

/** From rows, or from the database's count of inserts. Without either, events are counted as they leave: those that wait are missing. */
const tellsCreated = ({ reading: { traits }, totals }: MetricInput): boolean =>
  traits.createdAt || traits.slots !== null || totals?.method === 'statistics';

/** Dead events count as created by their rows: those not read, or archived since the span began, may be missing. */
function createdKnown({ reading, span: { fromMs } }: MetricInput, totals: SpanTotals): Known {
  const known = countsKnown(totals);
  const isRead = reading.deadDetailed || (reading.ordered.dead && Date.parse(figuresIn(reading, OLDEST).dead ?? '') < fromMs);
  const acts = actsIn(reading);
  const isArchived = acts.some(({ operation, at, count }) => operation === 'archive' && count > 0 && Date.parse(at) >= fromMs);
  const actsToldFromMs = Math.max(Date.parse(reading.asOf) - ACTED_SECONDS * 1_000, Date.parse(acts[ACTED_MAX - 1]?.at ?? '1970'));
  const { first, last } = totals.acted ?? { first: '', last: '' };
  const mayBeArchived = isArchived || (Math.max(fromMs, Date.parse(first)) < actsToldFromMs && Date.parse(last) >= fromMs);
  return known === 'exact' && (!isRead || mayBeArchived) ? 'estimated' : known;
}

export function throughputOf(input: MetricInput): Summary['throughput'] {
  const { reading, totals } = input;
  if (totals === null)
    return { createdPerMinute: null, publishedPerMinute: null, known: 'unavailable', why: whyNotPublished(input) ?? 'not_watched' };
  const { all, watchedMinutes, since } = totals;
  // If the backlog was cut short, its creations are missing.
  const why = !tellsCreated(input) ? 'no_created_at' : reading.reach.waiting === 'cut' ? 'too_many_rows' : null;
  const known = { known: why === null ? createdKnown(input, totals) : countsKnown(totals), ...(since === null ? {} : { since }) };
  const createdPerMinute = all.created / watchedMinutes;
  if (reading.traits.slots !== null) return { createdPerMinute, publishedPerMinute: null, ...known, why: 'external_relay' };
  const publishedPerMinute = all.published / watchedMinutes;
  return why === null ? { createdPerMinute, publishedPerMinute, ...known } : { createdPerMinute: null, publishedPerMinute, ...known, why };
}

export function throughputPlots(series: SeriesInput): Record<'created' | 'published', Plot> {
  const { reading } = series.input;
  return {
    created: tellsCreated(series.input) ? counts(series, 'created') : noPlot(series, 'no_created_at'),
    published: reading.traits.slots === null ? counts(series, 'published') : noPlot(series, 'external_relay'),
  };
}

function counts(series: SeriesInput, name: 'created' | 'published'): Plot {
  const { totals } = series.input;
  if (totals === null) return noPlot(series, whyNotPublished(series.input) ?? 'not_watched');
  const known = name === 'created' ? createdKnown(series.input, totals) : countsKnown(totals);
  return { known, values: series.steps.map(({ cell }) => (cell === null ? null : Math.round(cell[name]))) };
}
