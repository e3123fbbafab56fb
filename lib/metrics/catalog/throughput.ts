import { sql } from 'kysely';
import type { Summary } from '@/lib/shared/model';
import { WINDOW_SECONDS } from '@/lib/shared/windows';
import type { Base } from '../base';
import type { Metric, Plot } from '../metric';
import { publishedTimes } from '../published-times';
import { countLineOf, createdReach, numberOf, pointSteps, type Reading } from '../reading';
import { count, isState, type Sql } from '../spelling';

const ID = 'throughput';
const createdIn = ({ created, windowStart }: Base): Sql => sql`(${created} >= ${windowStart})`;
const publishedIn = ({ state, published, windowStart }: Base): Sql =>
  sql`(${isState(state, 'published')} and ${published} >= ${windowStart})`;

/** How many events come and how many go. */
export const throughputMetric: Metric = {
  id: ID,
  unit: 'per_minute',
  help: 'Events created and events published per minute, averaged over the window.',
  figures: (base) => ({ created: count(createdIn(base)), published: count(publishedIn(base)) }),
  lines: (base) => ({
    created: { at: base.created, where: createdIn(base), values: { n: sql`count(*)` } },
    published: { at: base.published, where: publishedIn(base), values: { n: sql`count(*)` } },
  }),
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
    ? { known: 'exact', values: countLineOf(reading, ID, line) }
    : { known: 'unavailable', values: pointSteps(reading).map(() => null) };
}
