/** The statements of the attempts observer: tried and dead rows, found by an index, by a scan or by their keys. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { fitRange } from '@/lib/outbox/indexes/index-fit';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql, type PlaceSql } from '@/lib/outbox/rows/row';
import { STATES_OF, type Part } from '@/lib/outbox/scan/sources';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { traitsOf, timeColumn } from '@/lib/outbox/scan/traits';
import type { Place } from '@/lib/shape/bound';
import { statePredicate } from '@/lib/shape/compile';
import { publishedByIndex, publishedColumn } from '../method';
import { publishedIn, publishedRows, type Span } from '../published-sql';
import { attemptsMemory, countAttempts, type AttemptsReach, type CounterMeaning } from './attempts-count';
import {
  attemptsOf,
  CHEAP_ROWS,
  epochMs,
  estimateRows,
  GAP_MS,
  orderBy,
  readByKey,
  rowColumns,
  rowsByIndex,
  SCANNED_ROWS,
  toRow,
  type Observation,
  type Observer,
  type ObserverTick,
  type RowAnswer,
  type Tried,
} from './observer';

/** Published rows are read this much later, so that rows of transactions still open are not missed. */
const LATE_MS = 10_000;
/** A table above CHEAP_ROWS is scanned this often. */
const DEAR_EVERY_MS = 30_000;
/** Limits of rows read by an index: the oldest open ones, and those published since the last tick. */
const OPEN_ROWS = 50_000;
const PUBLISHED_ROWS = 200_000;
const FOLLOWED_ROWS = 10_000;
/** Rows fetched by key per tick: about four pages each. */
const KEYED_ROWS = 2_000;

/** Failed attempts, retries and deaths, from the rows' counter. */
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
  const { indexed, ...plan } = planOf(outbox);
  let scanned = tried === null ? plan.scanned : plan.scanned.filter((part) => part !== 'published');
  // If published rows cannot be found by their time, followed ones are found by their key.
  const byTime = tried !== null || indexed.includes('published') || scanned.includes('published');
  let reach: AttemptsReach = 'complete';
  if (scanned.length > 0) {
    const size = await estimateRows(db, outbox, outbox.main);
    if (size > CHEAP_ROWS && memory !== null && atMs >= memory.atMs && atMs - memory.atMs < DEAR_EVERY_MS)
      return { additions: new Map(), memory: given, rows: 0 };
    if (size > SCANNED_ROWS) {
      reach = scanned.some((part) => part !== 'published') ? 'unseen' : 'capped';
      scanned = [];
    }
  }
  const meaning = meaningOf(outbox);
  if (reach === 'unseen') return { ...countAttempts(null, { atMs, reach, rows: [], gone: [], publishedToMs: null }, meaning), rows: 0 };

  const fresh = memory === null || atMs - memory.atMs > GAP_MS;
  const { span, told, publishedTo } = publishedSince(fresh ? null : memory.publishedToMs, atMs, tried);
  const first = await readFollowed(db, outbox, { indexed, scanned }, span);
  const rows = [...first.rows, ...told];
  const there = new Set(rows.map(({ id }) => id));
  const missing = fresh ? [] : memory.rows.flatMap(([id, , state]) => (state === 'archived' || there.has(id) ? [] : [id]));
  const second = await readByKey(db, outbox, missing, { most: KEYED_ROWS, isClosed: false, columns });
  if (first.cut && reach === 'complete') reach = 'capped';
  const found = { rows: [...rows, ...second.rows], gone: second.gone, publishedToMs: byTime ? publishedTo / 1_000 : null };
  return { ...countAttempts(memory, { atMs, reach, ...found }, meaning), rows: first.read + second.rows.length };
}

/** The span still to be read, the rows passed on (`told`), and up to when (microseconds) none is missing then. Nothing is read twice. */
function publishedSince(knownToMs: number | null, atMs: number, tried: Tried | null) {
  const from = Math.round((knownToMs ?? (tried === null ? atMs : tried.from / 1_000)) * 1_000);
  if (tried === null) {
    const to = Math.max(from, (atMs - LATE_MS) * 1_000);
    return { span: { from, to }, told: [], publishedTo: to };
  }
  return {
    span: from < tried.from ? { from, to: tried.from } : null,
    told: tried.rows.filter(({ publishedMs }) => publishedMs !== null && publishedMs >= from / 1_000),
    publishedTo: Math.max(from, tried.to),
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

/** Parts that an index finds, and those that need a scan of the whole table. */
type Plan = Record<'indexed' | 'scanned', Part[]>;

/** How parts are found: by a partial index on their rows, by one on their state, by one leading with the time of publishing. */
function planOf(outbox: Outbox): Plan {
  const at = placeSql(outbox, outbox.main);
  const plan: Plan = { indexed: [], scanned: [] };
  for (const part of ['waiting', 'processing', 'dead'] as const) {
    const found = rowsByIndex(outbox, at, STATES_OF[part]);
    if (found !== null) plan[found.rows === null ? 'scanned' : 'indexed'].push(part);
  }
  if (publishedColumn(outbox) !== null && traitsOf(outbox).publishedState)
    plan[publishedByIndex(outbox) === null ? 'scanned' : 'indexed'].push('published');
  return plan;
}

/** The rows to follow, in one statement on one snapshot. Bounded by the limit of each part; locks nothing. */
async function readFollowed(db: Db, outbox: Outbox, { indexed, scanned }: Plan, span: Span | null) {
  const at = placeSql(outbox, outbox.main);
  const stateIn = (part: Part): Sql => statePredicate(outbox.shape, STATES_OF[part], at.alias, outbox.scope) ?? sql`false`;
  const parts = indexed.flatMap((part) => {
    if (part !== 'published') return [{ limit: OPEN_ROWS, rows: rowsByIndex(outbox, at, STATES_OF[part])?.rows ?? at.from }];
    return span === null ? [] : [{ limit: PUBLISHED_ROWS, rows: publishedRows(outbox, span) }];
  });
  if (scanned.length > 0) {
    const wanted = scanned.map((part) => (part === 'published' && span !== null ? sql`(${publishedIn(outbox, span)})` : stateIn(part)));
    const where = sql`(${sql.join(wanted, sql` or `)}) and (${attemptsOf(outbox, at)} > 0 or ${stateIn('dead')})`;
    parts.push({ limit: SCANNED_ROWS, rows: sql`${at.from} where ${where}` });
  }
  const select = columns(outbox, at);
  const queries = parts.map(({ limit, rows }) => ({ limit, query: sql`select ${select} from ${rows} limit ${sql.lit(limit)}` }));
  if (outbox.dead !== null) queries.push({ limit: FOLLOWED_ROWS, query: deadRows(outbox, outbox.dead) });
  if (queries.length === 0) return { rows: [], read: 0, cut: false };

  // Each part is read in one pass: its rows are numbered and counted, and the first is always returned, with the count.
  const members = queries.map(({ query }, index) => {
    const numbered = sql`select p.*, ${sql.lit(index)} as part, row_number() over () as place, count(*) over () as counted from (${query}) as p`;
    return sql`(select * from (${numbered}) as c where attempts > 0 or state = 'dead' or place = 1)`;
  });
  const limit = sql.lit(FOLLOWED_ROWS + 1 + queries.length);
  const all = sql<RowAnswer<{ part: number | string; counted: string }>>`${sql.join(members, sql` union all `)} limit ${limit}`;
  const { rows } = await all.execute(db);
  const read = new Map(rows.map(({ part, counted }) => [Number(part), Number(counted)]));
  const found = rows.filter(({ attempts, state }) => (attempts ?? 0) > 0 || state === 'dead');
  return {
    rows: found.slice(0, FOLLOWED_ROWS).map(toRow),
    read: [...read.values()].reduce((sum, count) => sum + count, 0),
    cut: found.length > FOLLOWED_ROWS || queries.some((part, index) => (read.get(index) ?? 0) >= part.limit),
  };
}

/** The dead-letter table, newest first if an index gives that order. */
function deadRows(outbox: Outbox, place: Place): Sql {
  const at = placeSql(outbox, place);
  const died = timeColumn(place, 'diedAt');
  const fit = died === null ? null : fitRange(place, at.alias, died, []);
  const from = outbox.database.engine.fragments.from(place.table, at.alias, fit?.index);
  return sql`select ${columns(outbox, at)} from ${from}${orderBy(fit?.order)} limit ${sql.lit(FOLLOWED_ROWS)}`;
}

function columns(outbox: Outbox, at: PlaceSql): Sql {
  const died = epochMs(outbox, at, at.place.roles.diedAt === undefined ? 'attemptedAt' : 'diedAt');
  return sql`${rowColumns(outbox, at)}, ${attemptsOf(outbox, at)} as attempts, ${died} as died`;
}
