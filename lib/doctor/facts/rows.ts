import { sql, type RawBuilder } from 'kysely';
import type { Db, Direction } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import { statePredicate } from '@/lib/shape/compile';
import { commonTests, decidingColumn, notNull, stateColumns, statusColumns } from '@/lib/shape/reason';
import { fitTests, fitWalk, numberedKey, uniqueKey, type Walk } from '@/lib/outbox/indexes/index-fit';
import type { Outbox } from '@/lib/outbox/outbox';
import { plainColumn, type Place } from '@/lib/shape/bound';
import { placeSql } from '@/lib/outbox/rows/row';
import { timeColumn } from '@/lib/outbox/scan/traits';
import type { LiveState } from '@/lib/shared/states';
import { SMALL_ROWS } from '../check';
import type { RowFacts } from './facts';

const STATE_ROWS = 10_001;
/** Rows at each end of the table that are checked against the rules of the shape. */
const EDGE_ROWS = 1_000;
/** The oldest rows among which a published one is searched. */
const OLDEST_ROWS = 1_000;
const VALUES_SHOWN = 20;
const VALUES_PROBED = 50;
const VALUE_CHARACTERS = 60;
const LIMITS = { statementMs: 1_500, lockMs: 300 };
/** A row this old that has used up its attempts is not being worked on. */
const STRANDED_SECONDS = 86_400;

type Sql<T = unknown> = RawBuilder<T>;

/** Reads rows of an outbox; null if no index finds them and the table is too large to scan. */
type RowReader<T> = ((db: Db) => Promise<T>) | null;

/** Each read has 1.5 s and an index, or a table of at most 20,000 rows; `cut` when one could not be made. Locks nothing. */
export async function readRows(outbox: Outbox): Promise<{ rows: RowFacts; cut: boolean }> {
  const { database } = outbox;
  let cut = false;
  const read = async <T>(reader: RowReader<T>, otherwise: T): Promise<T> => {
    if (reader === null) return otherwise;
    try {
      return await database.read(async (db) => {
        await database.engine.byIndex(db);
        return reader(db);
      }, LIMITS);
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || error.code === 'connection') throw error;
      cut = true;
      return otherwise;
    }
  };
  const { looked, values } = await read(unmappedRows(outbox), { looked: 0, values: [] });
  const rare = await read(rareValues(outbox), []);
  const rows: RowFacts = {
    waiting: await read(waitingRows(outbox), null),
    dead: await read(deadRows(outbox), null),
    unmapped: { looked, values: [...values.filter(({ value }) => rare.every((one) => one.value !== value)), ...rare] },
    oldestPublishedMs: await read(oldestPublished(outbox), null),
    aheadMs: await read(newestAhead(outbox), null),
  };
  return { rows, cut };
}

export const isSmall = ({ description }: Place): boolean => description.estimatedRows !== null && description.estimatedRows <= SMALL_ROWS;

/** The table, with the walk's index if the engine needs a hint. */
const walkedBy = (outbox: Outbox, place: Place, walk: Walk | null): Sql =>
  outbox.database.engine.fragments.from(place.table, 'o', walk?.name ?? null);

/** The index that gives a table's rows in the order of a column; null without one, or without the column. */
const walkOf = (place: Place, column: string | null): Walk | null => (column === null ? null : fitWalk(place, column, [], false));

const orderBy = (walk: Walk | null, direction: Direction): Sql => (walk === null ? sql`` : sql` order by ${walk.order('o', direction)}`);

const oneRow = async <T>(db: Db, statement: RawBuilder<T>): Promise<T | undefined> => (await statement.execute(db)).rows[0];
const oneNumber = async (db: Db, statement: RawBuilder<{ n: string | number | null }>): Promise<number | null> =>
  numberOf((await oneRow(db, statement))?.n);
const numberOf = (value: string | number | null | undefined): number | null => (value == null ? null : Number(value));

function waitingRows(outbox: Outbox): RowReader<RowFacts['waiting']> {
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, outbox.main);
  const states: LiveState[] = ['pending', 'retrying'];
  const where = statePredicate(outbox.shape, states, at.alias, outbox.scope);
  if (where === null) return null;
  const fit = fitTests(outbox.main, at.alias, timeColumn(outbox.main, 'createdAt'), commonTests(outbox.shape, states));
  if (fit === null && !isSmall(outbox.main)) return null;
  const attempts = at.role('attempts')?.sql ?? sql`null`;
  const touched = at.roleInstant('attemptedAt') ?? at.roleInstant('createdAt') ?? sql`null`;
  const { maxAttempts } = outbox.parameters;
  const most = sql.lit(maxAttempts ?? Number.MAX_SAFE_INTEGER);
  const isStranded = sql`r.attempts >= ${most} and r.touched < ${fragments.secondsBefore(fragments.now(), STRANDED_SECONDS)}`;
  const order = fit?.order == null ? sql`` : sql` order by ${fit.order}`;
  return async (db) => {
    const statement = sql<Record<'seen' | 'most' | 'beyond' | 'stranded' | 'oldest', string | number | null>>`
      select count(*) as seen, ${fragments.asText(sql`max(r.attempts)`)} as most, coalesce(sum(case when r.attempts > ${most} then 1 else 0 end), 0) as beyond,
        coalesce(sum(case when ${isStranded} then 1 else 0 end), 0) as stranded,
        ${fragments.millisecondsBetween(sql`min(case when ${isStranded} then r.touched end)`, fragments.now())} as oldest
      from (select ${attempts} as attempts, ${touched} as touched from ${at.from} where ${where}${order} limit ${sql.lit(STATE_ROWS)}) as r`;
    const row = await oneRow(db, statement);
    if (row === undefined) return null;
    const [seen, beyond, stranded] = [Number(row.seen), Number(row.beyond), Number(row.stranded)];
    return { seen, beyond, stranded, mostAttempts: numberOf(row.most), oldestStrandedMs: numberOf(row.oldest) };
  };
}

function deadRows(outbox: Outbox): RowReader<RowFacts['dead']> {
  const { fragments } = outbox.database.engine;
  const place = outbox.dead ?? outbox.main;
  const at = placeSql(outbox, place);
  const where = outbox.dead === null ? statePredicate(outbox.shape, ['dead'], at.alias, outbox.scope) : sql`1 = 1`;
  if (where === null) return null;
  const tests = commonTests(outbox.shape, ['dead']);
  if (outbox.dead === null && !isSmall(place) && fitTests(place, at.alias, timeColumn(place, 'createdAt'), tests) === null) return null;
  const died = at.roleInstant('diedAt') ?? at.roleInstant('attemptedAt') ?? at.roleInstant('createdAt') ?? sql`null`;
  return async (db) => {
    const statement = sql<{ n: string | number; oldest: number | null }>`
      select count(*) as n, ${fragments.millisecondsBetween(sql`min(r.died)`, fragments.now())} as oldest
      from (select ${died} as died from ${at.from} where ${where} limit ${sql.lit(STATE_ROWS)}) as r`;
    const row = await oneRow(db, statement);
    return { count: Math.min(Number(row?.n ?? 0), STATE_ROWS - 1), oldestMs: numberOf(row?.oldest) };
  };
}

function unmappedRows(outbox: Outbox): RowReader<RowFacts['unmapped']> {
  const { main } = outbox;
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, main);
  const walk = walkOf(main, timeColumn(main, 'createdAt')) ?? walkOf(main, uniqueKey(main));
  const named = statusColumns(outbox.shape);
  // If rules only test whether a column is set, its value is not shown: it may be an error or a message.
  const values = stateColumns(outbox.shape).flatMap((name) => {
    const description = main.description.columns.get(name);
    if (description === undefined) return [];
    const own = at.column(name);
    const shown = named.has(name) || ['integer', 'decimal', 'boolean'].includes(description.kind);
    const text = shown ? sql`left(${fragments.asText(own, description)}, ${sql.lit(VALUE_CHARACTERS)})` : sql`'…'`;
    return [sql`case when ${own} is null then 'NULL' else ${text} end`];
  });
  const value = values.reduce<Sql | null>((text, next) => (text === null ? next : sql`concat(${text}, ' · ', ${next})`), null) ?? sql`''`;
  // A row that is not an event has no state.
  const state = at.rows === null ? at.state : sql`case when ${at.rows} then ${at.state} else 'outside' end`;
  const rowsFrom = (order: Sql, limit: number): Sql =>
    sql`(select ${state} as state, ${value} as value from ${walkedBy(outbox, main, walk)}${order} limit ${sql.lit(limit)})`;
  const edges =
    walk === null || isSmall(main)
      ? [rowsFrom(sql``, isSmall(main) ? SMALL_ROWS * 2 : EDGE_ROWS)]
      : (['desc', 'asc'] as const).map((direction) => rowsFrom(orderBy(walk, direction), EDGE_ROWS));
  return async (db) => {
    const { rows } = await sql<{ value: string | null; n: string | number; looked: string | number }>`
      with looked as (${sql.join(edges, sql` union all `)})
      select u.value, u.n, (select count(*) from looked where state <> 'outside') as looked from (select 1 as one) as always
      left join (select value, count(*) as n from looked where state = 'unmapped' group by value order by count(*) desc
        limit ${sql.lit(VALUES_SHOWN)}) as u on 1 = 1`.execute(db);
    return {
      looked: Number(rows[0]?.looked ?? 0),
      values: rows.flatMap((row) => (row.value === null ? [] : [{ value: row.value, rows: Number(row.n) }])),
    };
  };
}

/** Rows between the ends of the table, by an index of every state: one probe for each value, counted up to a bound. */
function rareValues(outbox: Outbox): RowReader<RowFacts['unmapped']['values']> {
  const { main, shape } = outbox;
  const deciding = decidingColumn(shape);
  const description = main.description.columns.get(deciding?.column ?? '');
  if (deciding === null || description === undefined || isSmall(main)) return null;
  // MySQL sorts the values of an enumeration by number and compares them by name.
  const declared = description.labels;
  if (declared === undefined && description.kind !== 'text' && description.kind !== 'integer') return null;
  const index = main.description.indexes.find(
    ({ columns, sorted, predicate }) => predicate === null && sorted.length > 0 && columns[0] === deciding.column,
  );
  if (index === undefined) return null;
  const { fragments } = outbox.database.engine;
  const from = fragments.from(main.table, 'o', index.name);
  const own = sql.id('o', deciding.column);
  // Of values that are equal to the column, the index shows one form.
  const alike = (text: string): string => (outbox.database.engine.features.foldsTexts ? text.trimEnd().toLowerCase() : text);
  const named = new Set([...deciding.named].map(alike));
  const probed = async (db: Db): Promise<string[]> => {
    const { rows } = await sql<{ value: string }>`
      with recursive seen as (select min(${own}) as value, 1 as n from ${from}
        union all select (select min(${own}) from ${from} where ${own} > seen.value), seen.n + 1 from seen where seen.value is not null and seen.n < ${sql.lit(VALUES_PROBED)})
      select ${fragments.asText(sql`seen.value`, description)} as value from seen where seen.value is not null`.execute(db);
    return rows.map(({ value }) => value);
  };
  const count = async (db: Db, test: Sql): Promise<number> => {
    const found = sql`select 1 as one from ${from} where ${test} limit ${sql.lit(STATE_ROWS)}`;
    return (await oneNumber(db, sql`select count(*) as n from (${found}) as r`)) ?? 0;
  };
  return async (db) => {
    const values = (declared ?? (await probed(db))).filter((value) => !named.has(alike(value))).slice(0, VALUES_SHOWN);
    const found = description.nullable ? [{ value: 'NULL', rows: await count(db, sql`${own} is null`) }] : [];
    for (const value of values) found.push({ value: value.slice(0, VALUE_CHARACTERS), rows: await count(db, sql`${own} = ${value}`) });
    return found.filter(({ rows }) => rows > 0);
  };
}

function oldestPublished(outbox: Outbox): RowReader<number | null> {
  const { main, shape } = outbox;
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, main);
  const where = statePredicate(shape, ['published'], at.alias, outbox.scope);
  const published = timeColumn(main, 'publishedAt');
  const when = at.roleInstant('publishedAt') ?? at.roleInstant('createdAt');
  if (where === null || when === null) return null;
  const tests = commonTests(shape, ['published']);
  const byPublished = published === null ? null : fitWalk(main, published, [...tests, notNull(published)], false);
  const walk = byPublished ?? walkOf(main, timeColumn(main, 'createdAt')) ?? walkOf(main, numberedKey(main));
  if (walk === null && !isSmall(main)) return null;
  const order = orderBy(walk, 'asc');
  // An index of publishing times begins with the oldest published row; other orders may begin with rows that wait.
  const first = byPublished === null ? sql`1 = 1` : sql`${at.column(published ?? '')} is not null`;
  const bound = walk === null ? SMALL_ROWS * 2 : OLDEST_ROWS;
  const statement = sql<{ n: number | null }>`
      select ${fragments.millisecondsBetween(sql`min(r.moment)`, fragments.now())} as n
      from (select ${when} as moment, case when ${where} then 1 else 0 end as published from ${walkedBy(outbox, main, walk)} where ${first}${order} limit ${sql.lit(bound)}) as r
      where r.published = 1`;
  return (db) => oneNumber(db, statement);
}

function newestAhead(outbox: Outbox): RowReader<number | null> {
  const { main } = outbox;
  const { fragments } = outbox.database.engine;
  const at = placeSql(outbox, main);
  // Seconds as a number and ISO texts sort by time too.
  const created = plainColumn(main, 'createdAt')?.name ?? null;
  const when = at.roleInstant('createdAt');
  if (created === null || when === null) return null;
  const waiting: LiveState[] = ['pending', 'retrying'];
  // Rows dated in the future wait, or were published too early: an index over all rows or over waiting ones shows them.
  const ofAll = isSmall(main) ? null : walkOf(main, created);
  const walk = isSmall(main) ? null : (ofAll ?? fitWalk(main, created, commonTests(outbox.shape, waiting), false));
  if (walk === null && !isSmall(main)) return null;
  const order = orderBy(walk, 'desc');
  const where = walk === ofAll ? null : statePredicate(outbox.shape, waiting, at.alias, outbox.scope);
  return async (db) => {
    const statement = sql<{ n: number | null }>`
      select ${fragments.millisecondsBetween(fragments.now(), sql`max(r.moment)`)} as n
      from (select ${when} as moment from ${walkedBy(outbox, main, walk)} where ${where ?? sql`1 = 1`} and ${at.column(created)} is not null${order} limit ${sql.lit(walk === null ? SMALL_ROWS * 2 : 1)}) as r`;
    const ahead = await oneNumber(db, statement);
    return ahead !== null && ahead > 0 ? ahead : null;
  };
}
