/** The statements of the attempts observer: rows with a counter, by whatever finds them, and by their keys. */
import type { Outbox } from '@/lib/outbox/outbox';
import { traitsOf, timeColumn } from '@/lib/outbox/scan/traits';
import type { ObserverTick, Observer, Observation, Tried } from '../observer';
import {
  attemptsMemory,
  countAttempts,
  GAP_MS,
  type AttemptsMemory,
  type AttemptsReach,
  type AttemptsRow,
  type CounterMeaning,
} from './attempts-count';
import { CHEAP_ROWS, SCANNED_ROWS, estimateRows, attemptsOf, epochMs, finite, idLots, keyed } from './rows';
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { statePredicate } from '@/lib/shape/compile';
import { commonTests, notNull } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import type { Place } from '@/lib/shape/bound';
import { placeSql, type PlaceSql } from '@/lib/outbox/rows/row';
import type { LiveState } from '@/lib/shared/states';
import { fitRange, fitTests } from '@/lib/outbox/indexes/index-fit';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { typeOf } from '@/lib/outbox/scan/base-columns';

/** Published rows are read this late, so that those of transactions that were still open are among them. */
const LATE_MS = 10_000;
/** A whole table above CHEAP_ROWS is read this often. */
const DEAR_EVERY_MS = 30_000;

/** Failed attempts, retries and deaths, from the counter that rows carry. */
export const attemptsObserver: Observer = {
  key: 'attempts',
  wants: (outbox) => traitsOf(outbox).attempts,
  everyMs: 5_000,
  takesTried: true,
  tick: observeAttempts,
};

async function observeAttempts({ outbox, db, at, memory: given, tried }: ObserverTick): Promise<Observation> {
  const atMs = Date.parse(at);
  const memory = attemptsMemory(given);
  const plan = planOf(outbox);
  if (tried !== null) plan.scanned = plan.scanned.filter((part) => part !== 'published');
  let reach: AttemptsReach = 'complete';
  if (plan.scanned.length > 0) {
    const size = await estimateRows(db, outbox, outbox.main);
    if (size > CHEAP_ROWS && memory !== null && atMs >= memory.atMs && atMs - memory.atMs < DEAR_EVERY_MS)
      return { additions: new Map(), memory: given, rows: 0 };
    if (size > SCANNED_ROWS) {
      reach = plan.scanned.some((part) => part !== 'published') ? 'unseen' : 'capped';
      plan.scanned = [];
    }
  }
  const fresh = memory === null || atMs - memory.atMs > GAP_MS;
  // On a table whose published rows cannot be found by their time, those that were followed are found by their key.
  const byTime = tried !== null || plan.published || plan.scanned.includes('published');
  const { span, told, publishedToMs } = publishedSince(fresh ? null : memory.publishedToMs, atMs, tried);
  if (reach === 'unseen') {
    const { additions, memory: next } = countAttempts(null, { atMs, reach, rows: [], gone: [], publishedToMs: null }, meaningOf(outbox));
    return { additions, memory: next, rows: 0 };
  }

  const first = await readFollowed(db, outbox, plan, byTime ? span : null);
  const rows = [...first.rows, ...told];
  const missing = fresh ? [] : missingFrom(memory, rows);
  const second = await readByKey(db, outbox, missing);
  const counted = countAttempts(
    memory,
    {
      atMs,
      reach: first.cut && reach === 'complete' ? 'capped' : reach,
      rows: [...rows, ...second.rows],
      gone: second.gone,
      publishedToMs: byTime ? publishedToMs : null,
    },
    meaningOf(outbox),
  );
  return { ...counted, rows: first.read + second.rows.length };
}

/**
 * Which published rows are still to be read, which the collector has passed on, and up to when none is missing then. Nothing is read
 * twice; what the collector read before a process ended, and did not pass on, is read once more.
 */
function publishedSince(
  knownToMs: number | null,
  atMs: number,
  tried: Tried | null,
): { span: Span | null; told: AttemptsRow[]; publishedToMs: number } {
  if (tried === null) {
    const fromMs = knownToMs ?? atMs;
    const toMs = Math.max(fromMs, atMs - LATE_MS);
    return { span: { fromMs, toMs }, told: [], publishedToMs: toMs };
  }
  const [fromMs, toMs] = [tried.from / 1_000, tried.to / 1_000];
  const sinceMs = knownToMs ?? fromMs;
  return {
    span: sinceMs < fromMs ? { fromMs: sinceMs, toMs: fromMs } : null,
    told: tried.rows.filter(({ publishedMs }) => publishedMs !== null && publishedMs >= sinceMs),
    publishedToMs: Math.max(sinceMs, toMs),
  };
}

function meaningOf(outbox: Outbox): CounterMeaning {
  const { countsClaims, publishedState } = traitsOf(outbox);
  const { shape, main, parameters } = outbox;
  const { retry } = shape.operations;
  const rule = Array.isArray(retry) ? retry.find((one) => 'version' in one && one.from.includes('dead')) : undefined;
  const value = rule !== undefined && 'version' in rule ? rule.set[main.roles.attempts?.column.name ?? ''] : undefined;
  const putBackAt =
    value !== undefined && 'parameter' in value && parameters.maxAttempts !== null ? parameters.maxAttempts - value.minus : null;
  return { countsClaims, diesUncounted: shape.diesUncounted, putBackAt, goneIsPublished: !publishedState };
}

function missingFrom(memory: AttemptsMemory, rows: AttemptsRow[]): string[] {
  const found = new Set(rows.map(({ id }) => id));
  return memory.rows.filter(([id, , state]) => state !== 'archived' && !found.has(id)).map(([id]) => id);
}

/** Rows read by an index: the oldest open ones, and those published since the last tick. */
const OPEN_ROWS = 50_000;
const PUBLISHED_ROWS = 200_000;
/** Rows followed from tick to tick. */
const FOLLOWED_ROWS = 10_000;
/** Rows looked up by their key in one tick: about four pages each. */
const KEYED_ROWS = 2_000;
interface Answer {
  id: string;
  type: string | null;
  state: AttemptsRow['state'];
  attempts: number | null;
  created: number | null;
  published: number | null;
  died: number | null;
}

const STATES_OF = {
  waiting: ['pending', 'retrying'],
  processing: ['processing'],
  dead: ['dead'],
  published: ['published'],
} as const satisfies Record<string, LiveState[]>;
type Part = keyof typeof STATES_OF;

export interface Plan {
  /** Reads by an index, each bounded by its limit. */
  indexed: { part: Part; limit: number; query: (span: Span | null) => Sql }[];
  /** Parts that only reading the whole table finds. */
  scanned: Part[];
  /** An index finds rows by their time of publishing. */
  published: boolean;
}
/** Times of publishing, in milliseconds since the epoch, the end not among them. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** What finds the rows with a counter: a partial index on open rows or one on their state, one leading with the time of publishing. */
export function planOf(outbox: Outbox): Plan {
  const { main } = outbox;
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, main);
  const plan: Plan = { indexed: [], scanned: [], published: false };
  for (const part of ['waiting', 'processing', 'dead'] as const) {
    const predicate = statePredicate(outbox.shape, STATES_OF[part], at.alias, outbox.scope);
    if (predicate === null) continue;
    const fit = fitTests(main, at.alias, timeColumn(main, 'createdAt'), commonTests(outbox.shape, STATES_OF[part]));
    const order = fit?.order == null ? sql`` : sql` order by ${fit.order}`;
    if (fit === null) plan.scanned.push(part);
    else
      plan.indexed.push({
        part,
        limit: OPEN_ROWS,
        query: () =>
          sql`select ${columns(outbox, at)} from ${fragments.from(main.table, at.alias, fit.index)} where ${predicate}${order} limit ${sql.lit(OPEN_ROWS)}`,
      });
  }
  const published = timeColumn(main, 'publishedAt');
  const tests: Leaf[] = published === null ? [] : [...commonTests(outbox.shape, STATES_OF.published), notNull(published)];
  if (published === null || !traitsOf(outbox).publishedState) return plan;
  const served = fitRange(main, at.alias, published, tests);
  if (served === null) plan.scanned.push('published');
  else {
    plan.published = true;
    const query = (span: Span | null): Sql =>
      sql`select ${columns(outbox, at)} from ${fragments.from(main.table, at.alias, served.index)} where ${span === null ? sql`false` : publishedIn(outbox, at, published, span)} limit ${sql.lit(PUBLISHED_ROWS)}`;
    plan.indexed.push({ part: 'published', limit: PUBLISHED_ROWS, query });
  }
  return plan;
}

function publishedIn(outbox: Outbox, at: PlaceSql, published: string, { fromMs, toMs }: Span): Sql {
  const description = at.place.description.columns.get(published);
  const predicate = statePredicate(outbox.shape, ['published'], at.alias, outbox.scope);
  if (description === undefined || predicate === null) return sql`false`;
  const { fragments } = outbox.database.engine;
  const value = (ms: number): Sql => fragments.instantValue(new Date(ms).toISOString(), description, outbox.parameters.timeZone);
  return sql`(${predicate} and ${at.column(published)} >= ${value(fromMs)} and ${at.column(published)} < ${value(toMs)})`;
}

/** The rows to follow, in one statement on one snapshot. Bounded by the limit of each part; locks nothing. */
export async function readFollowed(
  db: Db,
  outbox: Outbox,
  plan: Plan,
  span: Span | null,
): Promise<{ rows: AttemptsRow[]; read: number; cut: boolean }> {
  const at = placeSql(outbox, outbox.main);
  const parts: { name: string; limit: number; query: Sql }[] = plan.indexed.map(({ part, limit, query }) => ({
    name: part,
    limit,
    query: query(span),
  }));
  if (plan.scanned.length > 0) {
    const wanted = plan.scanned.flatMap((part) => {
      const published = timeColumn(outbox.main, 'publishedAt');
      if (part === 'published') return span === null || published === null ? [] : [publishedIn(outbox, at, published, span)];
      return [statePredicate(outbox.shape, STATES_OF[part], at.alias, outbox.scope) ?? sql`false`];
    });
    const counted = sql`${attemptsOf(outbox, at)} > 0`;
    const dead = statePredicate(outbox.shape, ['dead'], at.alias, outbox.scope) ?? sql`false`;
    const where = wanted.length === 0 ? sql`false` : sql`(${sql.join(wanted, sql` or `)}) and (${counted} or ${dead})`;
    parts.push({
      name: 'scan',
      limit: SCANNED_ROWS,
      query: sql`select ${columns(outbox, at)} from ${at.from} where ${where} limit ${sql.lit(SCANNED_ROWS)}`,
    });
  }
  if (outbox.dead !== null) parts.push({ name: 'dead_place', limit: FOLLOWED_ROWS, query: deadRows(outbox, outbox.dead) });
  if (parts.length === 0) return { rows: [], read: 0, cut: false };

  // Each part is read once, in one pass: its rows are numbered and counted, and the first one brings the count in any case.
  const members = parts.map(
    (
      { query },
      index,
    ) => sql`(select * from (select p.*, ${sql.lit(index)} as part, row_number() over () as place, count(*) over () as counted
      from (${query}) as p) as c where attempts > 0 or state = 'dead' or place = 1)`,
  );
  const limit = sql.lit(FOLLOWED_ROWS + 1 + parts.length);
  const { rows } = await sql<
    Answer & { part: number | string; counted: string }
  >`${sql.join(members, sql` union all `)} limit ${limit}`.execute(db);
  const read = new Map(rows.map(({ part, counted }) => [Number(part), Number(counted)]));
  const found = rows.filter(({ attempts, state }) => (attempts ?? 0) > 0 || state === 'dead');
  return {
    rows: found.slice(0, FOLLOWED_ROWS).map(toRow),
    read: [...read.values()].reduce((sum, count) => sum + count, 0),
    cut: found.length > FOLLOWED_ROWS || parts.some((part, index) => (read.get(index) ?? 0) >= part.limit),
  };
}

/** The dead-letter table, the newest first where an index gives that order. */
function deadRows(outbox: Outbox, place: Place): Sql {
  const at = placeSql(outbox, place);
  const died = timeColumn(place, 'diedAt');
  const fit = died === null ? null : fitRange(place, at.alias, died, []);
  const order = fit?.order == null ? sql`` : sql` order by ${fit.order}`;
  const from = outbox.database.engine.fragments.from(place.table, at.alias, fit?.index);
  return sql`select ${columns(outbox, at)} from ${from}${order} limit ${sql.lit(FOLLOWED_ROWS)}`;
}

function columns(outbox: Outbox, at: PlaceSql): Sql {
  const died = epochMs(outbox, at, at.place.roles.diedAt === undefined ? 'attemptedAt' : 'diedAt');
  return sql`${at.id.text} as id, ${typeOf(outbox, at)} as type, ${at.state} as state, ${attemptsOf(outbox, at)} as attempts,
    ${epochMs(outbox, at, 'createdAt')} as created, ${epochMs(outbox, at, 'publishedAt')} as published, ${died} as died`;
}

function toRow({ id, type, state, attempts, created, published, died }: Answer): AttemptsRow {
  return {
    id,
    type,
    state,
    attempts: finite(attempts) ?? 0,
    createdMs: finite(created),
    publishedMs: finite(published),
    diedMs: finite(died),
  };
}

/** Followed rows that are no longer where they were, and ids that are in no table: by the key of each table, bounded by KEYED_ROWS. */
export async function readByKey(db: Db, outbox: Outbox, missing: string[]): Promise<{ rows: AttemptsRow[]; gone: string[] }> {
  const places = [outbox.main, outbox.dead, outbox.archive].filter((place) => place !== null && place.description.privileges.select);
  let left = missing.slice(0, KEYED_ROWS);
  const rows: AttemptsRow[] = [];
  for (const place of places) {
    if (place === null || left.length === 0) continue;
    if (!keyed(place) && (await estimateRows(db, outbox, place)) > CHEAP_ROWS) return { rows, gone: [] };
    const at = placeSql(outbox, place);
    for (const lot of idLots(outbox, at, left)) {
      const answer = await sql<Answer>`select ${columns(outbox, at)} from ${at.from} where ${lot}`.execute(db);
      rows.push(...answer.rows.map(toRow));
    }
    const found = new Set(rows.map(({ id }) => id));
    left = left.filter((id) => !found.has(id));
  }
  return { rows, gone: left };
}
