import { sql } from 'kysely';
import type { Percentiles } from '@/lib/shared/model';
import type { UnavailableReason } from '@/lib/shared/measured';
import type { Base } from '../base';
import type { Metric } from '../metric';
import { publishedTimes } from '../published-times';
import { numberOf, numbersOf, type Reading } from '../reading';
import { count, milliseconds, percentiles, type Sql } from '../spelling';

const ID = 'processing';
/** Below this share of plausible claim times the column is no claim time: a row rewritten when published says nothing. */
const PLAUSIBLE_SHARE = 0.9;

const claimed = ({ publishedIn, attempted }: Base): Sql => sql`(${publishedIn} and ${attempted} is not null)`;
const claimedBefore = (base: Base): Sql => sql`(${claimed(base)} and ${base.attempted} < ${base.published})`;

/** From the relay's taking of an event to its publishing. */
export const processingMetric: Metric = {
  id: ID,
  unit: 'milliseconds',
  help: 'Time from the last claim to publishing of the events published in the window, where the table keeps a time of claim.',
  figures: (base) => ({
    percentiles: percentiles([0.5, 0.95, 0.99], milliseconds(base.attempted, base.published), claimedBefore(base)),
    plausible: count(claimedBefore(base)),
    count: count(claimed(base)),
  }),
  summary: (reading) => ({ processing: processingOf(reading) }),
};

function processingOf(reading: Reading): Percentiles {
  const events = numberOf(reading, ID, 'count') ?? 0;
  const plausible = numberOf(reading, ID, 'plausible') ?? 0;
  const none = (known: Percentiles['known'], why: UnavailableReason): Percentiles => ({
    p50Ms: null,
    p95Ms: null,
    p99Ms: null,
    known,
    why,
  });
  if (!reading.traits.claimTime) return none('unavailable', 'no_claim_time');
  const why = publishedTimes(reading);
  if (why !== null) return none('unavailable', why);
  if (events === 0) return none('exact', 'no_events');
  if (plausible < events * PLAUSIBLE_SHARE) return none('unavailable', 'no_claim_time');
  const [p50Ms = null, p95Ms = null, p99Ms = null] = numbersOf(reading, ID, 'percentiles');
  return { p50Ms, p95Ms, p99Ms, known: 'exact' };
}
