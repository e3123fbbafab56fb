import { sql } from 'kysely';
import type { Evidence } from '@/lib/shared/figures/verdicts';
import { silenceLimitMs, rhythmOf } from '../evidence/flow';
import { failing, type Base } from '@/lib/live/reading-sql';
import { numberOf, textOf, type Past } from '@/lib/live/reading';
import { count, earliest, iso, isState, latest, mostFrequent, once, secondsBefore, typed, type Sql } from '@/lib/outbox/scan/sql-terms';
import type { Circumstances, Finding, VerdictRule } from '../evidence/circumstances';

const OWNER = 'broker_refusing';
/** Fewer failures than this may be chance. */
const FAILED_MIN = 5;
/** Where a relay takes many events and waits long for each, those under way count as well once some have failed, and for longer. */
const FAILED_AMONG_TAKEN_MIN = 2;
/** One type that fails is that type's trouble, or its handler's. */
const TYPES_MIN = 2;
/** So long nothing but failures. */
const PATIENCE_MS = 10_000;
/** A failure longer ago than this says nothing of now. */
const RECENT_MS = 300_000;
/** Where some still go out: what is looked at, how many failures there have to be in it, and for each that went out. */
const LATELY_SECONDS = 10;
const LATELY_MIN = 10;
const LATELY_PER_PUBLISHED = 4;

/** Events of several types fail and none, or hardly any, goes out: it is not the events, it is where they go to. */
export const brokerRefusingVerdict: VerdictRule = {
  verdict: OWNER,
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
      // The time of an attempt moves on with each one: how long it has gone on, the events' own times tell.
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
  judge: (circumstances) => none(circumstances) ?? hardlyAny(circumstances),
};

/** Events that failed after the last one went out, and those that failed a moment ago. */
function failures(base: Base): { since: Sql; lately: Sql } {
  const failed = sql`(${failing(base)} or ${isState(base.state, 'dead')})`;
  const failedAt = failureTime(base);
  return {
    since: sql`(${failed} and ${failedAt} > coalesce(${base.lastPublished}, '-infinity'))`,
    lately: sql`(${failed} and ${failedAt} >= ${once(secondsBefore(base.now, LATELY_SECONDS))})`,
  };
}

/** When an event failed last, as near as the table tells. */
function failureTime({ traits, state, died, attempted, created }: Base): Sql {
  const tried = traits.claimTime ? sql`coalesce(${attempted}, ${created})` : created;
  return sql`case when ${isState(state, 'dead')} then ${died} else ${tried} end`;
}

/** Since the last event went out there were only failures. */
function none(circumstances: Circumstances): Finding | null {
  const { reading, history, now } = circumstances;
  if (reading === null || !reading.traits.publishedAt) return null;
  const failures = numberOf(reading, OWNER, 'count') ?? 0;
  const types = numberOf(reading, OWNER, 'types') ?? 0;
  const firstAt = textOf(reading, OWNER, 'first');
  const lastAt = textOf(reading, OWNER, 'last');
  const enough = failures >= FAILED_MIN;
  const taken = failures + (numberOf(reading, OWNER, 'taken') ?? 0);
  if (!enough && (failures < FAILED_AMONG_TAKEN_MIN || taken < FAILED_MIN)) return null;
  const patience = enough ? PATIENCE_MS : silenceLimitMs(rhythmOf(circumstances), true, true);
  if (firstAt === null || lastAt === null || now - Date.parse(lastAt) > (enough ? RECENT_MS : patience)) return null;
  const onlyType = types === 1 && history?.typesPublished.size === 1;
  if (types < TYPES_MIN && !onlyType) return null;
  const publishedAt = textOf(reading, 'last-published', 'at');
  const begun = Math.max(Date.parse(firstAt), publishedAt === null ? -Infinity : Date.parse(publishedAt));
  if (now - begun < patience) return null;
  const out: Evidence =
    publishedAt === null
      ? { code: 'never_published', values: {} }
      : { code: 'nothing_published', values: { lastPublishedAt: publishedAt } };
  return {
    since: new Date(begun).toISOString(),
    evidence: [{ code: 'all_failed', values: { count: failures, types } }, ...errorOf(reading), out],
  };
}

/** A few go out, most fail: now, and when it was last looked at. */
function hardlyAny({ reading, previous, now }: Circumstances): Finding | null {
  // How many went out is known only where somebody collects.
  if (reading === null || reading.foldedTo === null || !mostFail(reading)) return null;
  const before = previous.filter((past) => now - Date.parse(past.asOf) >= PATIENCE_MS);
  const last = before.at(-1);
  if (last === undefined || now - Date.parse(last.asOf) > RECENT_MS || !previous.slice(before.length - 1).every(mostFail)) return null;
  const values = {
    failed: numberOf(reading, OWNER, 'lately') ?? 0,
    count: numberOf(reading, OWNER, 'latelyPublished') ?? 0,
    types: numberOf(reading, OWNER, 'latelyTypes') ?? 0,
    withinMs: LATELY_SECONDS * 1_000,
  };
  const start = previous.findLastIndex((past) => !mostFail(past));
  return { since: (previous[start + 1] ?? reading).asOf, evidence: [{ code: 'most_failed', values }, ...errorOf(reading)] };
}

function mostFail(past: Past): boolean {
  const failed = numberOf(past, OWNER, 'lately') ?? 0;
  return (
    failed >= LATELY_MIN &&
    (numberOf(past, OWNER, 'latelyTypes') ?? 0) >= TYPES_MIN &&
    failed >= LATELY_PER_PUBLISHED * (numberOf(past, OWNER, 'latelyPublished') ?? 0)
  );
}

function errorOf(past: Past): Evidence[] {
  const error = textOf(past, OWNER, 'error');
  return error === null ? [] : [{ code: 'common_error', values: { error } }];
}
