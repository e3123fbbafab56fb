import { sql } from 'kysely';
import type { Db, Direction } from '@/lib/database/description';
import type { Place } from '@/lib/shape/bound';
import { and } from '@/lib/shape/compile';
import type { Outbox } from '../outbox';
import { type EventRow, NO_TEXT, placeSql, type PlaceSql, uncountedColumns } from '../rows/row';
import { touchedCountOfRead } from '../rows/touched';
import type { Sql } from '../scan/sql-terms';
import type { Cursor } from './cursor';
import type { Position, SortKey, Walk } from './walks';

export interface ListRow extends EventRow {
  place: Place['key'];
  /** The sort key as the column prints it; null if the row has none. */
  position: string | null;
  position_at: string | null;
}

/** A list has two stretches: rows with a sort key, and rows without, which come last in newest-first order. */
export type Stretch = 'keyed' | 'unkeyed';

/** Which rows of a stretch to read, and in which direction. */
export interface Span {
  stretch: Stretch;
  direction: Direction;
  after: Position | null;
  until: Position | null;
  limit: number;
}

export function mergedRows(outbox: Outbox, walks: readonly Walk[], span: Span): Sql<ListRow> | null {
  const counted = sql`, ${touchedCountOfRead(outbox, 'page')} as touched`;
  return positionedRows(
    outbox,
    walks,
    span,
    (at, keyAt) => sql`${uncountedColumns(outbox, at)}, ${keyAt} as position_at`,
    counted,
  ) as Sql<ListRow> | null;
}

/** Of a row in a walk; `keyAt` is its sort key as a time, NULL where it has none. */
export type Columns = (at: PlaceSql, keyAt: Sql) => Sql;

/** `columns` of the walks' rows, merged; null if no walk has this stretch. `more` is selected for the resulting rows, named `page`. */
export function positionedRows(outbox: Outbox, walks: readonly Walk[], span: Span, columns: Columns, more?: Sql): Sql | null {
  const [one, ...others] = walks.filter((walk) => hasStretch(walk, span.stretch));
  if (one === undefined) return null;
  if (others.length === 0 && more === undefined && one.index !== null && one.tried.on === 'all')
    return sql`(${chosenRows(outbox, one, span, shownColumns(outbox, one, keyOf(one, span), columns))})`;
  const arms = [one, ...others].map((walk) => arm(outbox, walk, span, columns));
  const { direction } = span;
  const keyed = span.stretch === 'keyed' && walks.some((walk) => walk.key !== null);
  // This stretch has no NULL keys; NULLS FIRST or LAST is written as most indexes have it, so that their rows need no sort.
  const ofIndexes = walks.flatMap(({ index }) => index?.nulls(direction) ?? []);
  const nulls = ofIndexes.filter((one) => one === 'last').length * 2 > ofIndexes.length ? 'last' : 'first';
  const { ordered } = outbox.database.engine.fragments;
  const ids = sql.join((walks[0]?.at.place.id ?? []).map((_, index) => sql`${sql.id(`sort_id_${index}`)} ${sql.raw(direction)}`));
  const order = keyed ? sql`${ordered(sql.id('sort_key'), direction, nulls)}, ${ids}` : ids;
  return sql`select *${more ?? sql``} from (${sql.join(arms, sql` union all `)}) as page order by ${order} limit ${sql.lit(span.limit)}`;
}

export const hasStretch = ({ key }: Walk, stretch: Stretch): boolean => stretch === 'keyed' || key?.nullable === true;

const sortIds = (at: PlaceSql): Sql => sql.join(at.id.columns.map((column, index) => sql`${column.sql} as ${sql.id(`sort_id_${index}`)}`));

/** MariaDB works out what is selected after sorting, and would copy whole rows of a subquery. */
const isStraight = ({ database }: Outbox, { tried }: Walk): boolean => !database.engine.features.streamsSubqueries && tried.on === 'all';

/**
 * Digests and texts of shown rows only: PostgreSQL would make them of all that it sorts. MariaDB needs the limit repeated outside; with it,
 * PostgreSQL would read every arm to its end.
 */
function arm(outbox: Outbox, walk: Walk, span: Span, columns: Columns): Sql {
  const { at } = walk;
  const { features } = outbox.database.engine;
  const straight = isStraight(outbox, walk);
  const key = keyOf(walk, span);
  const sortKey = key === null || straight ? key : sql.id(at.alias, 'sort_key');
  const shown = sql`${shownColumns(outbox, walk, sortKey, columns)}, ${sortKey ?? sql`null`} as sort_key, ${sortIds(at)}`;
  if (straight) return sql`(${chosenRows(outbox, walk, span, shown)})`;
  const limit = features.streamsSubqueries ? sql`` : sql` limit ${sql.lit(span.limit)}`;
  return sql`(select ${shown} from (${chosenRows(outbox, walk, span)}) as ${sql.ref(at.alias)}${limit})`;
}

const keyOf = ({ key }: Walk, { stretch }: Span): Sql | null => (key === null || stretch === 'unkeyed' ? null : key.sql);

function shownColumns({ database }: Outbox, { at, key }: Walk, sortKey: Sql | null, columns: Columns): Sql {
  const position = sortKey === null ? NO_TEXT : database.engine.fragments.asText(sortKey);
  return sql`${sql.lit(at.place.key)} as place, ${columns(at, (sortKey && key?.iso) ?? NO_TEXT)}, ${position} as position`;
}

function chosenRows(outbox: Outbox, walk: Walk, span: Span, shown = rowAndKey(outbox, walk, span)): Sql {
  const { at, tests, tried } = walk;
  const [from, row, all] = [fromOf(outbox, walk), shown, sql`${sql.ref(at.alias)}.*`];
  const within = inSpan(outbox, walk, span);
  const place = [...walk.where, ...within];
  const order = orderBy(walk, span);
  const chosen = (columns: Sql, rows: Sql, where: Sql<boolean>[], limit: number): Sql =>
    sql`select ${columns} from ${rows} where ${and(where)} order by ${order} limit ${sql.lit(limit)}`;
  if (tried.on === 'all') return chosen(row, from, [...walk.where, ...tests, ...within], span.limit);
  if (tried.on === 'upTo') {
    const before = inSpan(outbox, walk, { ...span, after: null, until: tried.last });
    return chosen(row, from, [...place, ...before, ...tests], span.limit);
  }
  if (tried.on === 'first') return chosen(all, sql`(${chosen(row, from, place, tried.rows)}) as ${sql.ref(at.alias)}`, tests, span.limit);
  const first = outbox.database.engine.features.streamsSubqueries
    ? sql`select ${row} from ${from} limit ${sql.lit(tried.rows)}`
    : sql`select ${row} from (select ${sortIds(at)} from ${from} limit ${sql.lit(tried.rows)}) as first join ${from} on ${and(sameRow(at, 'first'))}`;
  return chosen(all, sql`(${first}) as ${sql.ref(at.alias)}`, [...walk.where, ...tests, ...within], span.limit);
}

/** Rows of all these selects, read by index; DatabaseFailure `timeout` where that takes longer. */
export async function readByIndex<Row>({ database }: Outbox, selects: readonly Sql[], statementMs: number): Promise<Row[]> {
  const read = async (db: Db): Promise<Row[]> => {
    await database.engine.byIndex(db);
    return (await sql<Row>`${sql.join(selects, sql` union all `)}`.execute(db)).rows;
  };
  return selects.length === 0 ? [] : database.read(read, { statementMs });
}

/** The table, with the walk's index as a hint if the engine takes one. */
export const fromOf = ({ database }: Outbox, { at, index }: Pick<Walk, 'at' | 'index'>): Sql =>
  database.engine.fragments.from(at.place.table, at.alias, index?.name ?? null);

/** Joins the row of `at` to another one that holds its key in the columns of `sortIds`. */
const sameRow = (at: PlaceSql, other: string): Sql<boolean>[] =>
  at.id.columns.map((column, index) => sql<boolean>`${column.sql} = ${sql.id(other, `sort_id_${index}`)}`);

function rowAndKey(outbox: Outbox, { at, key }: Walk, span: Span): Sql {
  const row = outbox.database.engine.fragments.wholeRow(at.alias, at.place.description);
  return key === null || span.stretch === 'unkeyed' ? row : sql`${row}, ${key.sql} as sort_key`;
}

function orderBy(walk: Walk, { stretch, direction }: Span): Sql {
  const id = walk.at.id.order(direction);
  return walk.key === null || stretch === 'unkeyed' ? id : sql`${keyOrder(walk, walk.key, direction)}, ${id}`;
}

export const keyOrder = ({ at, index }: Pick<Walk, 'at' | 'index'>, key: Pick<SortKey, 'sql'>, direction: Direction): Sql =>
  index?.order(at.alias, direction) ?? sql`${key.sql} ${sql.raw(direction)}`;

/** The rows of the stretch after `after` (exclusive) and up to `until` (inclusive). */
function inSpan(outbox: Outbox, walk: Walk, { stretch, direction, after, until }: Span): Sql<boolean>[] {
  const { at, key } = walk;
  if (at.id.columns.length === 0) return [sql`false`];
  const { typed, beyond } = outbox.database.engine.fragments;
  const compared = (position: Position, sign: '<' | '>' | '<=' | '>='): Sql<boolean> => {
    const values = at.id.values(position.id);
    if (values === null) return sql`false`;
    const own = at.id.columns.map((column) => column.sql);
    if (key === null || stretch === 'unkeyed') return beyond(own, sign, values);
    // A row comparison: an index on the sort key alone serves it too.
    return position.key === null ? sql`false` : beyond([key.sql, ...own], sign, [typed(position.key, key.description), ...values]);
  };
  const descending = direction === 'desc';
  const tests: Sql<boolean>[] = [];
  if (key?.nullable === true) tests.push(stretch === 'keyed' ? sql`${key.sql} is not null` : sql`${key.sql} is null`);
  if (after !== null) tests.push(compared(after, descending ? '<' : '>'));
  if (until !== null) tests.push(compared(until, descending ? '>=' : '<='));
  return tests;
}

export interface Look {
  rows: number;
  /** The last row read, if more may follow; otherwise null. */
  end: (Position & { at: string | null }) | null;
  backTo: string | null;
}

type LastLooked = Record<'n' | 'id', string> & Record<'position' | 'at', string | null>;

/** The last row that a bounded walk reads, and how many it reads; null for a walk without a bound. */
export function lookedAt(outbox: Outbox, walk: Walk, span: Span): Sql<LastLooked> | null {
  const { tried, key } = walk;
  if (tried.on !== 'first' || !hasStretch(walk, span.stretch)) return null;
  return key !== null && span.stretch === 'keyed'
    ? lastByKey(outbox, walk, key, span, tried.rows)
    : lastById(outbox, walk, span, tried.rows);
}

/**
 * Reads the sort key alone, so that any index that leads with it serves. More rows may share its last value than the bound allows: if
 * subqueries are streamed, the last row within the bound is counted out; otherwise it is the last of all rows with that value.
 */
function lastByKey(outbox: Outbox, walk: Walk, key: SortKey, span: Span, look: number): Sql<LastLooked> {
  const { at } = walk;
  const { engine } = outbox.database;
  const { asText } = engine.fragments;
  const { direction } = span;
  const against = direction === 'desc' ? 'asc' : 'desc';
  const from = fromOf(outbox, walk);
  const where = and([...walk.where, ...inSpan(outbox, walk, span)]);
  const first = sql`(select ${key.sql} as sort_key from ${from} where ${where} order by ${keyOrder(walk, key, direction)} limit ${sql.lit(look)}) as first`;
  const row = sql`${asText(key.sql)} as position, ${key.iso} as at, ${at.id.text} as id`;
  if (engine.features.streamsSubqueries) {
    const last = sql`(select sort_key, count(*) as tied, sum(count(*)) over () as n from ${first} group by sort_key order by sort_key ${sql.raw(against)} limit 1) as l`;
    return sql`select ${asText(sql.id('l', 'n'))} as n, one.* from ${last} cross join lateral (select ${row} from ${from}
      where ${key.sql} = ${sql.id('l', 'sort_key')} and ${where} order by ${at.id.order(direction)} limit 1 offset l.tied - 1) as one`;
  }
  const last = sql`(select count(*) as n, ${sql.raw(direction === 'desc' ? 'min' : 'max')}(sort_key) as sort_key from ${first}) as l`;
  return sql`select ${asText(sql.id('l', 'n'))} as n, ${row}
    from ${last} join ${from} on ${key.sql} = ${sql.id('l', 'sort_key')} where ${where} order by ${at.id.order(against)} limit 1`;
}

function lastById(outbox: Outbox, walk: Walk, span: Span, look: number): Sql<LastLooked> {
  const { at, index } = walk;
  const order = orderBy(walk, span);
  // Only columns of the index, so that no row of the table is fetched.
  const names = new Set([...at.id.columns.map(({ description }) => description.name), ...(index?.columns ?? [])]);
  const first = sql`(select ${sql.join([...names].map((name) => at.column(name)))} from ${fromOf(outbox, walk)}
    where ${and([...walk.where, ...inSpan(outbox, walk, span)])} order by ${order} limit ${sql.lit(look)}) as ${sql.ref(at.alias)}`;
  const rows = sql`(select ${sql.ref(at.alias)}.*, row_number() over (order by ${order}) as nth from ${first}) as ${sql.ref(at.alias)}`;
  const last = sql`(select nth, ${at.id.text} as id, ${sortIds(at)} from ${rows} order by nth desc limit 1) as l`;
  const own = placeSql(outbox, at.place, 'p');
  return sql`select ${outbox.database.engine.fragments.asText(sql.id('nth'))} as n, ${NO_TEXT} as position,
    (select ${own.roleIso('createdAt')} from ${own.from} where ${and(sameRow(own, 'l'))} limit 1) as at, id from ${last}`;
}

/** Where a page begins, and its walks. */
export type ListStart = { order: Cursor['order']; cursor: Cursor | null; walks: readonly Walk[] };

export type Page = { shown: ListRow[]; more: boolean; looked: Look };

/** A previous page is read in the opposite direction, then its rows are reversed. */
export function wayOf({ order, cursor }: ListStart): { backwards: boolean; direction: Direction } {
  const backwards = cursor?.direction === 'previous';
  return { backwards, direction: (order === 'newest') === backwards ? 'asc' : 'desc' };
}

/** The stretches from the cursor on: rows without a sort key come last in newest-first order, first in oldest-first. */
export function stretches(start: ListStart): { stretch: Stretch; after: Position | null }[] {
  const { walks, cursor } = start;
  const byKeyAlone = walks.every(({ key }) => key === null);
  const both: Stretch[] = walks.some(({ key }) => key?.nullable === true) ? ['keyed', 'unkeyed'] : ['keyed'];
  const ways = wayOf(start).direction === 'desc' ? both : both.toReversed();
  if (cursor === null) return ways.map((stretch) => ({ stretch, after: null }));
  const begun: Stretch = cursor.key === null && !byKeyAlone ? 'unkeyed' : 'keyed';
  return ways.slice(Math.max(0, ways.indexOf(begun))).map((stretch) => ({ stretch, after: stretch === begun ? cursor : null }));
}
