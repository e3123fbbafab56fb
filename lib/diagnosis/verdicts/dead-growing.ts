import { sql } from 'kysely';
import { errorTemplate } from '@/lib/shared/lists/cause';
import { figuresIn, type Aggregates, type Past, type Reading } from '@/lib/live/reading';
import { isFirst } from '@/lib/live/reading-sql';
import { count, earliest, isState, iso, once, secondsBefore } from '@/lib/outbox/scan/sql-terms';
import { TOUCHED_DEAD } from '../evidence/acted';
import { ageMs, fact, type Finding, type VerdictRule } from '../evidence/circumstances';

/** Deaths longer ago than this are not counted. */
const RECENT_SECONDS = 900;
const RECENT_MS = RECENT_SECONDS * 1_000;
/** Deaths are over when none has come for this long, or for this many of their usual gaps. */
const QUIET_MIN_MS = 45_000;
const QUIET_GAPS = 3;
/** The usual gap is the median one between this many newest deaths: earlier ones had another cause. */
const NEWEST = 5;
/** The cause is looked for among this many newest deaths. */
const COMPARED = 400;

/** Deaths of one type and error. */
interface Alike {
  type: string | null;
  error: string | null;
  count: number;
}

interface Deaths {
  recent: number;
  first: string | null;
  /** Times of the newest, newest first. */
  newest: string[] | null;
  dead: number;
  /** How many rows tell no time of their death: a relay may clear the time it would be known by. */
  untimed: number;
  /** The largest cause and its share: `count` of the `of` deaths compared. Errors that differ stand as their template. */
  cause: (Alike & { of: number }) | null;
}

const DEATHS: Aggregates<Deaths> = {
  owner: 'dead_growing',
  figures(base) {
    const { traits, now, state, created, died, type, error, deadCount } = base;
    const dead = isState(state, 'dead');
    const recent = sql`(${dead} and ${isFirst(base)} and ${died} >= ${once(secondsBefore(now, RECENT_SECONDS))})`;
    const untimed = sql`(${dead} and ${died} is null)`;
    // Rows without a time may have died long ago: they are compared where no row says that it died lately.
    const compared = traits.deathTime ? sql`(${recent} or (${untimed} and not exists (select 1 from base where ${recent})))` : dead;
    const newestFirst = traits.deathTime ? sql`coalesce(${died}, ${created})` : created;
    return {
      recent: count(recent),
      first: iso(earliest(died, recent)),
      newest: sql`(select json_agg(n.at) from (select ${iso(died)} as at from base where ${recent} order by ${died} desc limit ${sql.lit(NEWEST)}) as n)`,
      dead: deadCount,
      untimed: count(untimed),
      cause: sql`(select json_agg(json_build_object('type', c.type, 'error', c.error, 'count', c.n) order by c.n desc, c.error, c.type) from
        (select d.type, d.error, count(*) as n from
          (select ${type} as type, ${error} as error from base where ${compared} order by ${newestFirst} desc nulls last limit ${sql.lit(COMPARED)}) as d
          group by 1, 2) as c)`,
    };
  },
  digest: (told) => ({ ...told, cause: largestOf(told.cause as Alike[] | null) }),
};

/** Texts that differ in an id only are one cause; of causes that are as large, the first. */
function largestOf(deaths: Alike[] | null): Deaths['cause'] {
  const causes = new Map<string, Alike>();
  for (const death of deaths ?? []) {
    const template = death.error === null ? null : errorTemplate(death.error);
    const key = JSON.stringify([death.type, template]);
    const others = causes.get(key);
    causes.set(key, others === undefined ? death : { ...death, error: template, count: others.count + death.count });
  }
  const all = [...causes.values()].sort((a, b) => b.count - a.count);
  return all[0] === undefined ? null : { ...all[0], of: all.reduce((sum, { count }) => sum + count, 0) };
}

/** Events keep dying: there were deaths in the last 15 minutes, and the next one is not overdue. */
export const deadGrowingVerdict: VerdictRule = {
  verdict: 'dead_growing',
  live: DEATHS,
  judge({ reading, previous, now }) {
    if (reading === null || reading.reach.dead === 'absent') return null;
    const deaths = figuresIn(reading, DEATHS);
    const { dead = 0, cause } = deaths;
    const { traits, deadDetailed, reach } = reading;
    // Who dies now may be among the rows that were counted, but not read.
    const isCounted = !traits.deathTime || deadDetailed || reach.dead === 'complete';
    const lately = traits.deathTime ? diedLately(deaths, !deadDetailed, now) : null;
    const grown = lately ?? (isCounted ? countGrown(reading, previous, now) : null);
    if (grown === null) return null;
    const causes = cause == null ? [] : [fact('dead_cause', { type: cause.type, error: cause.error, count: cause.count, of: cause.of })];
    return { since: grown.since, evidence: [...grown.evidence, ...causes, fact('dead_total', { count: dead })] };
  },
};

/** `cut`: not every dead row was read, so there may be more of them. */
function diedLately({ recent = 0, first = null, newest }: Partial<Deaths>, cut: boolean, now: number): Finding | null {
  const deaths = (newest ?? []).map((at) => Date.parse(at));
  if (recent === 0 || isOver(deaths, now)) return null;
  return { since: first, evidence: [fact('newly_dead', { count: recent, withinMs: RECENT_MS, atLeast: cut ? 'yes' : 'no' })] };
}

/** Whether so much time has passed since the newest of these deaths (newest first) that no other is expected. */
function isOver(deaths: readonly number[], now: number): boolean {
  const [last] = deaths;
  if (last === undefined) return true;
  const gapsMs = deaths.slice(1).map((at, index) => (deaths[index] ?? at) - at);
  gapsMs.sort((a, b) => a - b);
  return now - last > Math.max(QUIET_MIN_MS, QUIET_GAPS * (gapsMs[Math.floor((gapsMs.length - 1) / 2)] ?? 0));
}

/** Of rows whose death has no time, the readings of the last 15 minutes are compared. */
function countGrown(reading: Reading, previous: readonly Past[], now: number): Finding | null {
  const recent = previous.filter(({ asOf }) => ageMs(asOf, now) <= RECENT_MS);
  const steps = [...recent.slice(1), reading].filter((past, index) => rise(recent[index] ?? past, past, reading) > 0);
  const times = steps.map(({ asOf }) => Date.parse(asOf)).reverse();
  if (isOver(times.slice(0, NEWEST), now)) return null;
  // The last reading since which the most died.
  const from = recent.reduce((best, past) => (rise(past, reading, reading) >= rise(best, reading, reading) ? past : best), reading);
  const count = rise(from, reading, reading);
  if (count <= 0) return null;
  return { since: from.asOf, evidence: [fact('newly_dead', { count, withinMs: ageMs(from.asOf, now), atLeast: 'no' })] };
}

/** How many more are dead, no more than that without those an operator had put back, or may have; where deaths have times, of those without. */
function rise(before: Past, after: Past, { traits, deadDetailed }: Reading): number {
  const untimedAlone = traits.deathTime && deadDetailed;
  const counted = (past: Past): number[] => {
    const { dead = 0, untimed = 0 } = figuresIn(past, DEATHS);
    const { touched = 0, unread = 0 } = figuresIn(past, TOUCHED_DEAD);
    return [dead, dead - touched - (deadDetailed ? 0 : unread), ...(untimedAlone ? [untimed] : [])];
  };
  const earlier = counted(before);
  return Math.min(...counted(after).map((count, index) => count - (earlier[index] ?? 0)));
}
