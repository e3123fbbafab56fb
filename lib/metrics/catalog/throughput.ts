import { sql } from 'kysely';
import type { Summary } from '@/lib/shared/model';
import { WINDOW_SECONDS } from '@/lib/shared/windows';
import type { Metric, Plot } from '../metric';
import { publishedTimes } from '../published-times';
import { countLineOf, createdReach, numberOf, pointSteps, type Reading } from '../reading';
import { count } from '../spelling';

const ID = 'throughput';

/** How many events come and how many go. */
export const throughputMetric: Metric = {
  id: ID,
  unit: 'per_minute',
  help: 'Events created and events published per minute, averaged over the window.',
  figures: ({ createdIn, publishedIn }) => ({ created: count(createdIn), published: count(publishedIn) }),
  lines: () => ({ created: { n: sql`count(*)` }, published: { n: sql`count(*)` } }),
  summary: (reading) => ({ throughput: throughputOf(reading) }),
  plots: (reading) => ({
    created: plot(reading, 'created', createdReach(reading) === 'complete'),
    published: plot(reading, 'published', publishedTimes(reading) === null),
  }),
};

function throughputOf(reading: Reading): Summary['throughput'] {
  const minutes = WINDOW_SECONDS[reading.window] / 60;
  const perMinute = (name: 'created' | 'published'): number => (numberOf(reading, ID, name) ?? 0) / minutes;
  const reach = createdReach(reading);
  const whyNotPublished = publishedTimes(reading);
  const createdPerMinute = reach === 'complete' ? perMinute('created') : null;
  const publishedPerMinute = whyNotPublished === null ? perMinute('published') : null;
  const why = whyNotPublished ?? (reach === 'complete' ? null : reach === 'cut' ? 'too_many_rows' : 'no_created_at');
  return {
    createdPerMinute,
    publishedPerMinute,
    known: createdPerMinute === null && publishedPerMinute === null ? 'unavailable' : 'exact',
    ...(why === null ? {} : { why }),
  };
}

function plot(reading: Reading, line: 'created' | 'published', known: boolean): Plot {
  return known
    ? { known: 'exact', values: countLineOf(reading, line, ID, 'n') }
    : { known: 'unavailable', values: pointSteps(reading).map(() => null) };
}
