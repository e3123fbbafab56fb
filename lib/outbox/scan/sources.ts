/** The bounded queries of a reading, one per source. */
import { sql } from 'kysely';
import type { ColumnDescription, Direction } from '@/lib/database/description';
import type { Place } from '@/lib/shape/bound';
import { and, compileCondition, or, statePredicate } from '@/lib/shape/compile';
import { commonTests, notNull } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import { DEPTH_CAP } from '@/lib/shared/figures/measured';
import type { LiveState } from '@/lib/shared/states';
import { fitPosition, fitRange, fitTests, numberedKey, uniqueKey, type Fit } from '../indexes/index-fit';
import type { Outbox } from '../outbox';
import { placeSql, type PlaceSql } from '../rows/row';
import { baseColumns, numberOf } from './base-columns';
import type { Sql } from './sql-terms';
import { hasTime, ownTime, timeColumn, type Traits } from './traits';

/** Rows that a reading reads at most, over all tables of an outbox. */
export const READING_ROWS = 200_000;
/** How many of these are for sources with an index of their own; the rest is for the scan. */
const SHARES = { waiting: DEPTH_CAP + 1, processing: DEPTH_CAP + 1, dead: 400, published: 1_000 };
/** Rows that the end of the index on times of publishing is told by. */
export const NEWEST_ROWS = 100;
/** Dead rows are spread over the table, a page each: an index counts them, and only the newest are read. */
const COUNTED_ROWS = DEPTH_CAP + 1;

const DEAD_PLACE = 'dead_place';

/** Whether there may be more rows than were counted or read. */
export const isCut = ({ limit, counted }: Source, rows: number, count: number | null): boolean =>
  counted === null ? rows >= limit : (count ?? 0) >= COUNTED_ROWS;

export type Sources = ReturnType<typeof sourcesOf>;

/**
 * The bounded queries of a reading: by index if one serves, everything else in one scan, newest rows first if the key is a number. Rows
 * published before `foldedTo` (ISO 8601) are in the rollups; null while nothing is collected.
 */
export function sourcesOf(outbox: Outbox, traits: Traits, foldedTo: string | null) {
  const at = placeSql(outbox, outbox.main);
  const reads = { outbox, at, traits };
  const [created, published] = [ownTime(outbox.main, 'createdAt'), ownTime(outbox.main, 'publishedAt')];
  const absent = PARTS.filter((part) => predicateOf(outbox, at, [part]) === null && !(part === 'dead' && outbox.dead !== null));
  const byCursor = (direction: Direction): Fit | null =>
    outbox.scope.cursor === null ? null : fitPosition(outbox.main, at.alias, outbox.scope.cursor.position, direction);
  const sources: Source[] = [];
  const scanned: Part[] = [];

  for (const part of ['waiting', 'processing', 'dead'] as const) {
    const predicate = predicateOf(outbox, at, [part]);
    if (predicate === null) continue;
    const direction = part === 'dead' ? 'desc' : 'asc';
    const tests = commonTests(outbox.shape, STATES_OF[part]);
    const fit = fitTests(outbox.main, at.alias, created?.name ?? null, tests, direction) ?? byCursor(direction);
    if (fit === null) scanned.push(part);
    else {
      const where = led(outbox, at, part, predicate);
      const source = bounded(reads, part, [part], SHARES[part], { fit, order: fit.order, where });
      sources.push(part === 'dead' ? { ...source, counted: countOf(by(outbox, at, fit), where) } : source);
    }
  }
  if (outbox.dead !== null) sources.push(deadPlace(outbox, outbox.dead, traits));

  const rest = (): number =>
    READING_ROWS - NEWEST_ROWS - sources.reduce((rows, source) => rows + source.limit + (source.counted === null ? 0 : COUNTED_ROWS), 0);
  const predicate = predicateOf(outbox, at, ['published']);
  const since = published ?? created;
  if (predicate !== null && since !== null) {
    const tests: Leaf[] = [...commonTests(outbox.shape, STATES_OF.published), notNull(since.name)];
    const fit = fitRange(outbox.main, at.alias, since.name, tests) ?? (published === null ? byCursor('desc') : null);
    if (fit === null) scanned.push('published');
    else {
      // Without a publish time only the newest rows matter: they show how far the relay has come.
      const recent =
        published === null
          ? predicate
          : sql`${predicate} and ${foldedTo === null ? sql`false` : publishedSince(outbox, at, published, foldedTo)}`;
      const where = led(outbox, at, 'published', recent);
      sources.push(bounded(reads, 'published', ['published'], SHARES.published, { fit, order: fit.order, where }));
    }
  } else if (predicate !== null) scanned.push('published');

  if (scanned.length > 0) sources.push(scanOf({ ...reads, parts: scanned, foldedTo }, rest()));
  return {
    sources,
    /** Parts this shape cannot show. */
    absent,
    /** The end of the index on times of publishing, as one row of `Ends`; null if only the scan can find what was published last. */
    newest: newestByIndex(outbox, at),
  };
}

type Reads = { outbox: Outbox; at: PlaceSql; traits: Traits };

export type Source = ReturnType<typeof bounded>;

/** One bounded query of one table. */
function bounded(
  { outbox, at, traits }: Reads,
  name: string,
  parts: Part[],
  /** At most this many rows are read; if as many are found, there may be more. */
  limit: number,
  { fit = null, order, where = null }: { fit?: Fit | null; order: Sql | null; where?: Sql | null },
) {
  const from = sql`${by(outbox, at, fit)}${where === null ? sql`` : sql` where ${where}`}`;
  return {
    name,
    limit,
    /** Its rows, with the base columns. */
    query: sql`select ${baseColumns(outbox, at, traits, name)} from ${from}${order === null ? sql`` : sql` order by ${order}`} limit ${sql.lit(limit)}`,
    parts,
    /** Rows cut off are the newest waiting ones, or the oldest published and dead ones. */
    ordered: order !== null,
    /** Counts up to COUNTED_ROWS where fewer are read; null if all rows counted are read. */
    counted: null as Sql | null,
    /** For fetched rows: how to scan without fetching every row; null if they are few, or have no order. */
    walk: null as Walk | null,
  };
}

/** Repeats the common tests separately, for an engine that must see the column its index leads with. */
function led(outbox: Outbox, at: PlaceSql, part: Part, where: Sql): Sql {
  if (outbox.database.engine.features.sharesSubqueries) return where;
  const common = commonTests(outbox.shape, STATES_OF[part]).map((test) => compileCondition(test, at.alias, outbox.scope));
  return and([...common, where]);
}

/** The table, with an index hint for engines that need one. */
const by = ({ database }: Outbox, { place, alias }: PlaceSql, fit: Fit | null): Sql =>
  database.engine.fragments.from(place.table, alias, fit?.index);

const countOf = (from: Sql, where: Sql): Sql =>
  sql`select count(*) as n from (select 1 from ${from} where ${where} limit ${sql.lit(COUNTED_ROWS)}) as c`;

/** The dead-letter table, newest first if an index gives that order. */
function deadPlace(outbox: Outbox, place: Place, traits: Traits): Source {
  const at = placeSql(outbox, place);
  const died = timeColumn(place, 'diedAt');
  const fit = died === null ? null : fitRange(place, at.alias, died, []);
  const source = bounded({ outbox, at, traits }, DEAD_PLACE, ['dead'], SHARES.dead, { fit, order: fit?.order ?? null });
  return { ...source, counted: countOf(at.from, sql`true`) };
}

/** Published since `from`, as a comparison that the column's own index serves. */
const publishedSince = ({ database, parameters }: Outbox, at: PlaceSql, column: ColumnDescription, from: string): Sql =>
  sql`${at.column(column.name)} >= ${database.engine.fragments.instantValue(from, column, parameters.timeZone)}`;

/**
 * The newest times of the events published last: one old event published late does not hide how far the relay has come. Rows of other
 * states may have the time too: they are counted, and only then left out, so that never more rows are read.
 */
function newestByIndex(outbox: Outbox, at: PlaceSql): Sql | null {
  const [created, published] = [ownTime(outbox.main, 'createdAt'), ownTime(outbox.main, 'publishedAt')];
  const isPublished = predicateOf(outbox, at, ['published']);
  if (published === null || isPublished === null) return null;
  const fit = fitRange(outbox.main, at.alias, published.name, [...commonTests(outbox.shape, STATES_OF.published), notNull(published.name)]);
  if (fit?.order == null) return null;
  const predicate = outbox.main.description.indexes.find(({ name }) => name === fit.index)?.predicate ?? null;
  const { fragments } = outbox.database.engine;
  const told = (name: 'created' | 'published', column: ColumnDescription | null): Sql =>
    column === null
      ? fragments.nothing('instant')
      : fragments.sane(fragments.instant(sql.ref(`e.${name}`), column, outbox.parameters.timeZone));
  // Exactly the rows of the index, by the words of the server.
  const indexed = sql`${at.column(published.name)} is not null${predicate === null ? sql`` : sql` and ${sql.raw(predicate)}`}`;
  const rows = sql`select ${created === null ? sql`null` : at.column(created.name)} as created, ${at.column(published.name)} as published,
    ${numberOf(outbox, at)} as serial, ${isPublished} as is_published from ${by(outbox, at, fit)} where ${indexed} order by ${fit.order} limit ${sql.lit(NEWEST_ROWS)}`;
  return sql`select e.n, e.published_rows, ${told('created', created)} as newest_created, ${told('published', published)} as last_published, e.serial as newest_serial
    from (select count(*) as n, count(case when r.is_published then 1 end) as published_rows,
      max(case when r.is_published then r.created end) as created, max(case when r.is_published then r.published end) as published,
      max(case when r.is_published then r.serial end) as serial
      from (${rows}) as r) as e`;
}

/** What current figures are made of: the rows of some states, and those published since the last collection. */
export const PARTS = ['waiting', 'processing', 'dead', 'published'] as const;
export type Part = (typeof PARTS)[number];

export const STATES_OF: Record<Part, readonly LiveState[]> = {
  waiting: ['pending', 'retrying'],
  processing: ['processing'],
  dead: ['dead'],
  published: ['published'],
};

function predicateOf({ shape, scope }: Outbox, { alias }: PlaceSql, parts: readonly Part[]): Sql<boolean> | null {
  const states = parts.flatMap((part) => STATES_OF[part]);
  return statePredicate(shape, states, alias, scope);
}

/** A scan that skips rows in no figure, mainly those published before `foldedTo`. */
export interface Walk {
  /** The ends of the rows it walks, and their last key in order. */
  ends: Sql<Ends & { edge: string | null }>;
  /** Base rows up to that key, FETCHED_ROWS at most. */
  rows(edge: string): Sql;
}

/** How many rows were looked at and how many of them are published, with the newest times of those, ISO 8601 UTC, and their last number. */
export type Ends = Record<'n' | 'published_rows', string | number> &
  Record<'newest_created' | 'last_published' | 'newest_serial', string | number | null>;

export const SCAN = 'scan';

/** Rows that a scan fetches at most; without a key to walk along, also the rows it reads. */
export const FETCHED_ROWS = 20_000;

interface Scanned extends Reads {
  /** The parts that no index finds. */
  parts: Part[];
  foldedTo: string | null;
}

function scanOf(scanned: Scanned, rows: number): Source {
  const { outbox, at, parts } = scanned;
  const newestFirst = numberedKey(outbox.main);
  const fetched = !outbox.database.engine.features.sharesSubqueries;
  // Rows are read twice: to find the last one, and up to it.
  const walk = fetched ? walkOf(scanned, Math.floor(rows / 2)) : null;
  const limit = !fetched ? rows : walk === null ? FETCHED_ROWS : Math.floor(rows / 2);
  return { ...bounded(scanned, SCAN, parts, limit, { order: newestFirst === null ? null : sql`${at.column(newestFirst)} desc` }), walk };
}

/** Along the unique key, newest first if it is a number; null if the table has no one-column key. */
function walkOf({ outbox, at, traits, parts, foldedTo }: Scanned, limit: number): Walk | null {
  const { fragments } = outbox.database.engine;
  const name = uniqueKey(outbox.main);
  const key = outbox.main.id[0];
  const index = outbox.main.description.indexes.find(({ unique, columns, sorted }) => unique && sorted.length === 1 && columns[0] === name);
  if (name === null || key === undefined || index === undefined) return null;
  const descending = numberedKey(outbox.main) !== null;
  const order = sql` order by ${at.column(name)} ${sql.raw(descending ? 'desc' : 'asc')} limit `;
  const from = fragments.from(at.place.table, at.alias, index.name);
  const time = (role: 'createdAt' | 'publishedAt'): Sql | null =>
    hasTime(at.place, role) ? fragments.sane(at.roleInstant(role) ?? fragments.nothing('instant')) : null;
  const [created, published] = [time('createdAt'), time('publishedAt')];
  const isPublished = predicateOf(outbox, at, ['published']);
  const told = (value: Sql | null, none = fragments.nothing('instant')): Sql =>
    value === null || isPublished === null ? none : sql`case when ${isPublished} then ${value} end`;
  const unpublished = parts.filter((part) => part !== 'published');
  const open = predicateOf(outbox, at, unpublished);
  const unfolded =
    !parts.includes('published') || isPublished === null || published === null || foldedTo === null
      ? null
      : sql<boolean>`(${and([...longAgo(outbox, at, foldedTo), isPublished, sql`${published} >= ${fragments.instantOf(foldedTo)}`])})`;
  const wanted = [open, unfolded].filter((test) => test !== null);
  const last = sql`${sql.raw(descending ? 'min' : 'max')}(k)`;
  return {
    ends: sql`select count(*) as n, ${fragments.asText(last, key)} as edge, ${fragments.instantText(sql`max(created)`)} as newest_created,
      ${fragments.instantText(sql`max(published)`)} as last_published, count(is_published) as published_rows, max(serial) as newest_serial
      from (select ${at.column(name)} as k, ${told(sql`1`, fragments.nothing('integer'))} as is_published, ${told(created)} as created, ${told(published)} as published,
        ${told(numberOf(outbox, at), fragments.nothing('integer'))} as serial from ${from}${order}${sql.lit(limit)}) as w`,
    rows: (edge) =>
      sql`select ${baseColumns(outbox, at, traits, SCAN)} from ${from} where ${at.column(name)} ${sql.raw(descending ? '>=' : '<=')} ${fragments.typed(edge, key)}
        and (${or(wanted)})${order}${sql.lit(FETCHED_ROWS)}`,
  };
}

/** Most rows were published long ago, which the column itself shows at less cost; a day allows for time zones. */
function longAgo(outbox: Outbox, at: PlaceSql, foldedTo: string): Sql[] {
  const published = ownTime(outbox.main, 'publishedAt');
  // Times stored as texts do not sort exactly as times.
  if (published === null || published.time === 'iso') return [];
  return [publishedSince(outbox, at, published, new Date(Date.parse(foldedTo) - 86_400_000).toISOString())];
}
