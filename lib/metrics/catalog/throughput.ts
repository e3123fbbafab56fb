import type { Summary } from '@/lib/shared/model';
import type { Line } from '../line';
import { noPlot, type Metric, type Plot } from '../metric';
import type { Observed } from '../observed';
import { countsKnown, whyNotPublished } from '../published-times';

/** How many events come and how many go. */
export const throughputMetric: Metric = {
  id: 'throughput',
  unit: 'per_minute',
  help: 'Events created and events published per minute, averaged over the part of the window that was watched.',
  summary: (observed) => ({ throughput: throughputOf(observed) }),
  plots: (line) => ({
    created: line.observed.reading.traits.createdAt ? plot(line, 'created') : noPlot(line, 'no_created_at'),
    published: plot(line, 'published'),
  }),
};

function throughputOf(observed: Observed): Summary['throughput'] {
  const { reading, happened } = observed;
  if (happened === null) {
    return { createdPerMinute: null, publishedPerMinute: null, known: 'unavailable', why: whyNotPublished(observed) ?? 'not_watched' };
  }
  const { all, watchedMinutes } = happened;
  // Backlogs that were cut short are missing from what is known to have been created.
  const why = !reading.traits.createdAt && all.created === 0 ? 'no_created_at' : reading.reach.waiting === 'cut' ? 'too_many_rows' : null;
  return {
    createdPerMinute: why === null ? all.created / watchedMinutes : null,
    publishedPerMinute: all.published / watchedMinutes,
    known: countsKnown(happened),
    ...(why === null ? {} : { why }),
  };
}

function plot(line: Line, name: 'created' | 'published'): Plot {
  const { observed, steps } = line;
  if (observed.happened === null) return noPlot(line, whyNotPublished(observed) ?? 'not_watched');
  return { known: countsKnown(observed.happened), values: steps.map(({ slot }) => (slot === null ? null : Math.round(slot[name]))) };
}
