import { sql } from 'kysely';
import { unavailable, type Count } from '@/lib/shared/measured';
import type { Base } from '../base';
import type { Metric } from '../metric';
import { numberOf, toNumber, type Reading } from '../reading';
import { isState, sum, type Sql } from '../spelling';

const ID = 'retries';

/**
 * Attempts beyond the first that a row's counter tells of. A counter that rises at the claim has counted the first
 * attempt too; one that rises at a failure has not, unless the row's last attempt failed and has not been repeated.
 */
function extraAttempts({ traits, state, attempts }: Base): Sql {
  const afterFirst = sql`greatest(0, ${attempts} - 1)`;
  return traits.countsClaims
    ? afterFirst
    : sql`case when ${isState(state, 'published')} then greatest(0, ${attempts}) else ${afterFirst} end`;
}

/** Rows whose retries fell into the window as far as a table can tell: published or died in it, or still being retried. */
const active = ({ state, publishedIn, diedIn }: Base): Sql =>
  sql`(${isState(state, 'retrying', 'processing')} or ${publishedIn} or ${diedIn})`;

/** Attempts that repeated a failed one. */
export const retriesMetric: Metric = {
  id: ID,
  unit: 'events',
  help: 'Attempts beyond the first of the events that were published, died or are being retried in the window.',
  figures: (base) => ({ count: sum(extraAttempts(base), active(base)) }),
  perType: (base) => ({ count: sum(extraAttempts(base), active(base)) }),
  summary: (reading) => ({ retries: retriesOf(reading) }),
  byType: (reading, type) => ({ retries: retriesOf(reading).count === null ? null : toNumber(type('count')) }),
};

function retriesOf(reading: Reading): Count {
  if (!reading.traits.attempts) return unavailable('no_attempts');
  if (Object.values(reading.reach).includes('cut')) return unavailable('too_many_rows');
  // A counter says how often, not when: retries of a row that took hours all count into the window it ended in.
  return { count: numberOf(reading, ID, 'count') ?? 0, known: 'estimated' };
}
