import { sql } from 'kysely';
import type { Base } from '../base';
import type { Summary } from '@/lib/shared/model';
import type { Metric } from '../metric';
import { lineOf, numberOf, numbersOf, toNumber, type Reading } from '../reading';
import { count, percentiles, type Sql } from '../spelling';
import { publishedTimes } from '../published-times';

const ID = 'latency';
const FRACTIONS = [0.5, 0.95, 0.99] as const;
const timed = ({ publishedIn, latency }: Base): Sql => sql`(${publishedIn} and ${latency} is not null)`;

/** From creation to publishing, of the events published in the window. */
export const latencyMetric: Metric = {
  id: ID,
  unit: 'milliseconds',
  help: 'Time from creation to publishing of the events published in the window: the 50th, 95th and 99th percentile.',
  figures: (base) => ({ percentiles: percentiles(FRACTIONS, base.latency, timed(base)), count: count(timed(base)) }),
  perType: (base) => ({ p95: percentiles([0.95], base.latency, timed(base)) }),
  lines: ({ latency }) => ({ published: { percentiles: percentiles(FRACTIONS, latency, sql`${latency} is not null`) } }),
  summary: (reading) => ({ latency: latencyOf(reading) }),
  byType: (reading, type) => {
    const values = type('p95');
    return { p95Ms: publishedTimes(reading) === null && Array.isArray(values) ? toNumber(values[0]) : null };
  },
  plots(reading) {
    const known = publishedTimes(reading) === null && reading.traits.createdAt ? 'exact' : 'unavailable';
    const plot = (index: number) =>
      ({
        known,
        values: lineOf(reading, 'published', ID, ({ percentiles: values }) =>
          known === 'exact' && Array.isArray(values) ? toNumber(values[index]) : null,
        ),
      }) as const;
    return { p50Ms: plot(0), p95Ms: plot(1), p99Ms: plot(2) };
  },
};

function latencyOf(reading: Reading): Summary['latency'] {
  const why = reading.traits.createdAt ? publishedTimes(reading) : 'no_created_at';
  if (why !== null) return { p50Ms: null, p95Ms: null, p99Ms: null, meanMs: null, count: null, known: 'unavailable', why };
  const [p50Ms = null, p95Ms = null, p99Ms = null] = numbersOf(reading, ID, 'percentiles');
  const events = numberOf(reading, ID, 'count') ?? 0;
  return { p50Ms, p95Ms, p99Ms, meanMs: null, count: events, known: 'exact', ...(events === 0 ? { why: 'no_events' as const } : {}) };
}
