import { sql } from 'kysely';
import { lastPublishedAt } from '@/lib/figures/throughput';
import { failing, isFirst, type Base } from '@/lib/live/reading-sql';
import { figuresIn, type Aggregates, type Past } from '@/lib/live/reading';
import { count, earliest, iso, isState, latest, mostFrequent, once, secondsBefore, typed, type Sql } from '@/lib/outbox/scan/sql-terms';
import { silenceLimitMs, rhythmOf } from '../evidence/flow';
import { LATELY_SECONDS } from '../evidence/forecast';
import { ageMs, fact, factIfKnown, inARow, isoOf, laterOf, nothingOut, type Judge, type VerdictRule } from '../evidence/circumstances';

const OWNER = 'broker_refusing';
/** Fewer failures than this may be chance. */
const FAILED_MIN = 5;
/** If a relay takes many events and waits long for each, those under way count too once this many have failed, with more patience. */
const FAILED_AMONG_TAKEN_MIN = 2;
/** If a single type fails, the problem is that type's, or its handler's. */
const TYPES_MIN = 2;
/** Nothing but failures for this long. */
const PATIENCE_MS = 10_000;
/** A failure longer ago than this says nothing about now. */
const RECENT_MS = 300_000;
/** If some are still published: at least this many failures lately, and this many per event published. */
const LATELY_MIN = 10;
const LATELY_PER_PUBLISHED = 4;

interface Failures extends Record<'types' | 'taken' | 'latelyTypes' | 'latelyPublished', number> {
  /** Since the last event was published: how many failed, of how many types, and how many are under way. */
  count: number;
  first: string | null;
  last: string | null;
  /** In the last LATELY_SECONDS. */
  lately: number;
  error: string | null;
}

const FAILURES: Aggregates<Failures> = {
  owner: OWNER,
  figures(base) {
    const { now, state, error, created, published, attempted, died, lastPublished } = base;
    const failedAt = failureTime(base);
    const { since, lately } = failures(base);
    const taken = sql`(${isState(state, 'processing')} and ${attempted} > coalesce(${lastPublished}, '-infinity'))`;
    const types = (name: string): Sql => sql`(select count(*) from types where ${typed(OWNER, name)} > 0)`;
    return {
      count: count(since),
      types: types('since'),
      taken: count(taken),
      // Each attempt changes the time of attempt: creation and death show how long it has gone on.
      first: iso(earliest(sql`case when ${isState(state, 'dead')} then ${died} else ${created} end`, since)),
      last: iso(latest(failedAt, since)),
      lately: count(lately),
      latelyTypes: types('lately'),
      latelyPublished: count(sql`(${isState(state, 'published')} and ${published} >= ${once(secondsBefore(now, LATELY_SECONDS))})`),
      error: sql`left(${mostFrequent(error, sql`(${since} or ${lately}) and ${error} is not null`)}, 200)`,
    };
  },
  perType(base) {
    const { since, lately } = failures(base);
    return { since: count(since), lately: count(lately) };
  },
};

/** Events of several types fail and none, or hardly any, is published: the problem is not the events but the broker. */
export const brokerRefusingVerdict: VerdictRule = {
  verdict: OWNER,
  live: FAILURES,
  judge: (circumstances) => none(circumstances) ?? hardlyAny(circumstances),
};

/** Events that failed after the last one was published, and those that failed a moment ago; not those that had died before. */
function failures(base: Base): { since: Sql; lately: Sql } {
  const failed = sql`((${failing(base)} or ${isState(base.state, 'dead')}) and ${isFirst(base)})`;
  const failedAt = failureTime(base);
  return {
    since: sql`(${failed} and ${failedAt} > coalesce(${base.lastPublished}, '-infinity'))`,
    lately: sql`(${failed} and ${failedAt} >= ${once(secondsBefore(base.now, LATELY_SECONDS))})`,
  };
}

/** When an event failed last, as closely as the table shows. */
function failureTime({ traits, state, died, attempted, created }: Base): Sql {
  const tried = traits.claimTime ? sql`coalesce(${attempted}, ${created})` : created;
  return sql`case when ${isState(state, 'dead')} then ${died} else ${tried} end`;
}

/** Since the last event was published there were only failures. */
const none: Judge = (circumstances) => {
  const { reading, history, now } = circumstances;
  if (reading === null || !reading.traits.publishedAt) return null;
  const { count = 0, types = 0, taken = 0, first = null, last = null, error } = figuresIn(reading, FAILURES);
  const enough = count >= FAILED_MIN;
  if (!enough && (count < FAILED_AMONG_TAKEN_MIN || count + taken < FAILED_MIN)) return null;
  const patience = enough ? PATIENCE_MS : silenceLimitMs(rhythmOf(circumstances), true, true);
  if (first === null || last === null || ageMs(last, now) > (enough ? RECENT_MS : patience)) return null;
  const onlyType = types === 1 && history?.typesPublished.size === 1;
  if (types < TYPES_MIN && !onlyType) return null;
  const begun = laterOf(first, lastPublishedAt(reading));
  if (now - begun < patience) return null;
  const failed = fact('all_failed', { count, types });
  return { since: isoOf(begun), evidence: [failed, ...factIfKnown('common_error', { error }), nothingOut(reading)] };
};

/** A few are published, most fail: now, and in an earlier reading. */
const hardlyAny: Judge = ({ reading, previous, now }) => {
  // How many were published is known only if the outbox is collected.
  if (reading === null || reading.foldedTo === null) return null;
  const failing = inARow<Past>(reading, previous, mostFail);
  if (!failing.some(({ asOf }) => ageMs(asOf, now) >= PATIENCE_MS && ageMs(asOf, now) <= RECENT_MS && asOf !== reading.asOf)) return null;
  const { lately: failed = 0, latelyPublished: count = 0, latelyTypes: types = 0, error } = figuresIn(reading, FAILURES);
  const values = { failed, count, types, withinMs: LATELY_SECONDS * 1_000 };
  const evidence = [fact('most_failed', values), ...factIfKnown('common_error', { error })];
  return { since: failing[0]?.asOf ?? null, evidence };
};

function mostFail(past: Past): boolean {
  const { lately = 0, latelyTypes = 0, latelyPublished = 0 } = figuresIn(past, FAILURES);
  return lately >= LATELY_MIN && latelyTypes >= TYPES_MIN && lately >= LATELY_PER_PUBLISHED * latelyPublished;
}
