import type { Summary } from '@/lib/shared/model';
import type { Line } from '../series';
import { noPlot, type Metric, type Plot } from '../metric';
import type { Observed } from '../span';
import { countsKnown, whyNotPublished } from '../percentiles';
import type { Reading } from '@/lib/live/reading';

/** How many events come and how many go. */
export const throughputMetric: Metric = {
  id: 'throughput',
  unit: 'per_minute',
  help: 'Events created and events published per minute, averaged over the part of the window that was watched.',
  summary: (observed) => ({ throughput: throughputOf(observed) }),
  plots: (line) => ({
    created: tellsCreated(line.observed.reading) ? plot(line, 'created') : noPlot(line, 'no_created_at'),
    published: line.observed.reading.traits.slots === null ? plot(line, 'published') : noPlot(line, 'external_relay'),
  }),
};

/** Where nothing is read from rows, the database's own count of inserts tells. */
const tellsCreated = ({ traits }: Reading): boolean => traits.createdAt || traits.slots !== null;

function throughputOf(observed: Observed): Summary['throughput'] {
  const { reading, happened } = observed;
  if (happened === null) {
    return { createdPerMinute: null, publishedPerMinute: null, known: 'unavailable', why: whyNotPublished(observed) ?? 'not_watched' };
  }
  const { all, watchedMinutes } = happened;
  // Backlogs that were cut short are missing from what is known to have been created.
  const why = !tellsCreated(reading) && all.created === 0 ? 'no_created_at' : reading.reach.waiting === 'cut' ? 'too_many_rows' : null;
  if (reading.traits.slots !== null) {
    const createdPerMinute = all.created / watchedMinutes;
    return { createdPerMinute, publishedPerMinute: null, known: countsKnown(happened), why: 'external_relay' };
  }
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
  return { known: countsKnown(observed.happened), values: steps.map(({ cell }) => (cell === null ? null : Math.round(cell[name]))) };
}
