/** What a reading reads, a source at a time. */
import { sql } from 'kysely';
import type { ColumnDescription } from '@/lib/database/description';
import type { Place } from '@/lib/shape/bound';
import { compileCondition, statePredicate } from '@/lib/shape/compile';
import { commonTests, notNull } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import { DEPTH_CAP } from '@/lib/shared/figures/measured';
import type { LiveState } from '@/lib/shared/states';
import { fitPosition, fitRange, fitTests, numberedKey, uniqueKey, type Fit } from '../indexes/index-fit';
import type { Outbox } from '../outbox';
import { placeSql, type PlaceSql } from '../rows/row';
import { baseColumns } from './base-columns';
import type { Sql } from './sql-terms';
import { timeColumn, hasTime, type Traits } from './traits';

/** A reading reads at most this many rows of an outbox, all its tables together. */
export const READING_ROWS = 200_000;
/** Shares of it for what an index finds by itself; the rest is for the scan where no index serves. */
const SHARES = { waiting: DEPTH_CAP + 1, processing: DEPTH_CAP + 1, dead: 400, published: 1_000, frontier: 100, edges: 2 };
/** Dead rows lie all over a table, a page each: they are counted by an index, and only the newest are looked at. */
const COUNTED_ROWS = DEPTH_CAP + 1;

const DEAD_PLACE = 'dead_place';

/** Whether there may be more than were counted, or read. */
export const isCut = ({ limit, counted }: Source, rows: number, count: number | null): boolean =>
  counted === null ? rows >= limit : (count ?? 0) >= COUNTED_ROWS;

export interface Sources {
  sources: Source[];
  /** Parts this shape cannot show. */
  absent: Part[];
  /** Newest time of publishing in the whole table, by index; null where only the scan can tell. */
  lastPublished: Sql | null;
  /** Newest creation among the events published last, by index; null where only the scan can tell. */
  frontier: Sql | null;
}

/**
 * The bounded reads of a reading: by an index where one serves, everything else in one scan of the table's first rows. Rows published
 * before `foldedTo` (ISO 8601) are in the rollups; null while nothing is collected.
 */
export function sourcesOf(outbox: Outbox, traits: Traits, foldedTo: string | null): Sources {
  const at = placeSql(outbox, outbox.main);
  const created = timeColumn(outbox.main, 'createdAt');
  const published = timeColumn(outbox.main, 'publishedAt');
  const absent = PARTS.filter(
    (part) => !outbox.shape.states.some((rule) => STATES_OF[part].includes(rule.state)) && !(part === 'dead' && outbox.dead !== null),
  );
  const sources: Source[] = [];
  const scanned: Part[] = [];

  for (const part of ['waiting', 'processing', 'dead'] as const) {
    const predicate = statePredicate(outbox.shape, STATES_OF[part], at.alias, outbox.scope);
    if (predicate === null) continue;
    const direction = part === 'dead' ? 'desc' : 'asc';
    const fit =
      fitTests(outbox.main, at.alias, created, commonTests(outbox.shape, STATES_OF[part]), direction) ??
      (outbox.scope.cursor === null ? null : fitPosition(outbox.main, at.alias, outbox.scope.cursor.position, direction));
    if (fit === null) scanned.push(part);
    else
      sources.push({
        ...indexed(outbox, at, part, predicate, fit, SHARES[part], traits),
        ...(part === 'dead' ? countedBy(by(outbox, at, fit), led(outbox, at, part, predicate)) : {}),
      });
  }
  if (outbox.dead !== null) sources.push(deadPlace(outbox, outbox.dead, traits));

  const rest = (): number =>
    READING_ROWS -
    SHARES.frontier -
    SHARES.edges -
    sources.reduce((rows, source) => rows + source.limit + (source.counted === null ? 0 : COUNTED_ROWS), 0);
  const predicate = statePredicate(outbox.shape, STATES_OF.published, at.alias, outbox.scope);
  const since = published ?? created;
  if (predicate !== null && since !== null) {
    const tests: Leaf[] = [...commonTests(outbox.shape, STATES_OF.published), notNull(since)];
    const fit =
      fitRange(outbox.main, at.alias, since, tests) ??
      (published !== null || outbox.scope.cursor === null
        ? null
        : fitPosition(outbox.main, at.alias, outbox.scope.cursor.position, 'desc'));
    if (fit === null) scanned.push('published');
    else {
      // Without a time of publishing the newest rows are all that is wanted: they tell how far the relay has come.
      const recent = published === null ? predicate : sql`${predicate} and ${sinceFold(outbox, at, published, foldedTo)}`;
      sources.push(indexed(outbox, at, 'published', recent, fit, SHARES.published, traits));
    }
  } else if (predicate !== null) scanned.push('published');

  if (scanned.length > 0) sources.push(scanOf({ outbox, at, traits, parts: scanned, foldedTo }, rest()));
  return {
    sources,
    absent,
    lastPublished: newestPublished(outbox, at),
    frontier: created === null ? null : frontierByIndex(outbox, at, created),
  };
}

function indexed(outbox: Outbox, at: PlaceSql, part: Part, where: Sql, fit: Fit, limit: number, traits: Traits): Source {
  const order = fit.order === null ? sql`` : sql` order by ${fit.order}`;
  const query = sql`select ${baseColumns(outbox, at, traits, part)} from ${by(outbox, at, fit)} where ${led(outbox, at, part, where)}${order} limit ${sql.lit(limit)}`;
  return { name: part, limit, parts: [part], ordered: fit.order !== null, counted: null, walk: null, query };
}

/** Said apart from the states' own words, so that an engine that has to be told sees the column its index leads with. */
function led(outbox: Outbox, at: PlaceSql, part: Part, where: Sql): Sql {
  if (outbox.database.engine.features.sharesSubqueries) return where;
  const common = commonTests(outbox.shape, STATES_OF[part]).map((test) => compileCondition(test, at.alias, outbox.scope));
  return sql.join([...common, where], sql` and `);
}

/** The table, read by this index on an engine that has to be told. */
const by = ({ database }: Outbox, { place, alias }: PlaceSql, fit: Fit | null): Sql =>
  database.engine.fragments.from(place.table, alias, fit?.index);

const countedBy = (from: Sql, where: Sql): Pick<Source, 'counted'> => ({
  counted: sql`select count(*) as n from (select 1 from ${from} where ${where} limit ${sql.lit(COUNTED_ROWS)}) as c`,
});

/** The dead-letter table, newest first where an index gives that order. */
function deadPlace(outbox: Outbox, place: Place, traits: Traits): Source {
  const at = placeSql(outbox, place);
  const died = timeColumn(place, 'diedAt');
  const fit = died === null ? null : fitRange(place, at.alias, died, []);
  const order = fit?.order == null ? sql`` : sql` order by ${fit.order}`;
  const query = sql`select ${baseColumns(outbox, at, traits, DEAD_PLACE)} from ${by(outbox, at, fit)}${order} limit ${sql.lit(SHARES.dead)}`;
  return {
    name: DEAD_PLACE,
    limit: SHARES.dead,
    parts: ['dead'],
    ordered: fit !== null,
    walk: null,
    query,
    ...countedBy(at.from, sql`true`),
  };
}

/** The newest time of publishing, one row of an index that leads with it; null without one. */
function newestPublished(outbox: Outbox, at: PlaceSql): Sql | null {
  const column = timeColumn(outbox.main, 'publishedAt');
  const description = column === null ? undefined : outbox.main.description.columns.get(column);
  if (column === null || description === undefined) return null;
  const fit = fitRange(outbox.main, at.alias, column, [notNull(column)]);
  if (fit === null) return null;
  return saneOf(outbox, description, sql`select max(${at.column(column)}) as value from ${by(outbox, at, fit)}`);
}

/** Published since the last fold, as a comparison that the column's own index serves. */
function sinceFold(outbox: Outbox, at: PlaceSql, column: string, foldedTo: string | null): Sql {
  const description = outbox.main.description.columns.get(column);
  if (foldedTo === null || description === undefined) return sql`false`;
  return sql`${at.column(column)} >= ${outbox.database.engine.fragments.instantValue(foldedTo, description, outbox.parameters.timeZone)}`;
}

/** One value of a subquery as an instant. */
function saneOf(outbox: Outbox, description: ColumnDescription, query: Sql): Sql {
  const instant = outbox.database.engine.fragments.instant(sql.ref('e.value'), description, outbox.parameters.timeZone);
  return sql`(select ${outbox.database.engine.fragments.sane(instant)} from (${query}) as e)`;
}

/** How far the relay has come: among the events published last, so that one old event published late hides nothing. */
function frontierByIndex(outbox: Outbox, at: PlaceSql, created: string): Sql | null {
  const published = timeColumn(outbox.main, 'publishedAt');
  const description = outbox.main.description.columns.get(created);
  const fit = published === null ? null : fitRange(outbox.main, at.alias, published, [notNull(published)]);
  if (published === null || description === undefined || fit?.order == null) return null;
  const newest = sql`select max(n.created) as value from (select ${at.column(created)} as created from ${by(outbox, at, fit)}
    where ${at.column(published)} is not null order by ${fit.order} limit ${sql.lit(SHARES.frontier)}) as n`;
  return saneOf(outbox, description, newest);
}

/** What the figures of now are made of: the rows of some states, and those published since the collector last folded. */
export const PARTS = ['waiting', 'processing', 'dead', 'published'] as const;
export type Part = (typeof PARTS)[number];

export const STATES_OF: Record<Part, readonly LiveState[]> = {
  waiting: ['pending', 'retrying'],
  processing: ['processing'],
  dead: ['dead'],
  published: ['published'],
};

/** One bounded read of one table. */
export interface Source {
  name: string;
  /** At most this many rows are read; as many as that means that there may be more. */
  limit: number;
  /** Its rows as the base has them. */
  query: Sql;
  parts: Part[];
  /** Rows cut off are the newest waiting ones, or the oldest published and dead ones. */
  ordered: boolean;
  /** How many there are, COUNTED_ROWS at the most, where fewer are read; null where all that are counted are read. */
  counted: Sql | null;
  /** For rows that are fetched: how they are read without fetching all that are looked at; null where they are few, or have no order. */
  walk: Walk | null;
}

/** A scan that leaves at home what is in no figure: rows published before the last fold, most of all. */
export interface Walk {
  /** How many rows there are, the last of them in the order of the key, and the newest times of what is published. */
  ends: Sql<WalkEnds>;
  /** Rows of the base up to that last one, FETCHED_ROWS at the most. */
  rows(edge: string): Sql;
}

export interface WalkEnds {
  n: string | number;
  edge: string | null;
  /** ISO 8601 UTC. */
  newest_created: string | null;
  last_published: string | null;
}

export const SCAN = 'scan';

/** Of a scan, at most so many rows are fetched to the figures, and where a table has no key to walk along, so many are looked at. */
export const FETCHED_ROWS = 20_000;

interface Scanned {
  outbox: Outbox;
  at: PlaceSql;
  traits: Traits;
  /** The parts that no index finds. */
  parts: Part[];
  foldedTo: string | null;
}

export function scanOf(scanned: Scanned, rows: number): Source {
  const { outbox, at, traits, parts } = scanned;
  const newestFirst = numberedKey(outbox.main);
  const fetched = !outbox.database.engine.features.sharesSubqueries;
  // Rows are looked at twice: to find the last one, and up to it.
  const walk = fetched ? walkOf(scanned, Math.floor(rows / 2)) : null;
  const limit = !fetched ? rows : walk === null ? FETCHED_ROWS : Math.floor(rows / 2);
  const order = newestFirst === null ? sql`` : sql` order by ${at.column(newestFirst)} desc`;
  return {
    name: SCAN,
    limit,
    parts,
    ordered: newestFirst !== null,
    counted: null,
    walk,
    query: sql`select ${baseColumns(outbox, at, traits, SCAN)} from ${at.from}${order} limit ${sql.lit(limit)}`,
  };
}

/** Along the unique key, newest first where it is a number; null where the table has none of one column. */
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
  const isPublished = statePredicate(outbox.shape, STATES_OF.published, at.alias, outbox.scope);
  const told = (value: Sql | null): Sql =>
    value === null || isPublished === null ? fragments.nothing('instant') : sql`case when ${isPublished} then ${value} end`;
  const open = statePredicate(
    outbox.shape,
    parts.filter((part) => part !== 'published').flatMap((part) => STATES_OF[part]),
    at.alias,
    outbox.scope,
  );
  const unfolded =
    !parts.includes('published') || isPublished === null || published === null || foldedTo === null
      ? null
      : sql`(${sql.join([...longAgo(outbox, at, foldedTo), isPublished, sql`${published} >= ${fragments.instantOf(foldedTo)}`], sql` and `)})`;
  const wanted = [open, unfolded].filter((test) => test !== null);
  const last = sql`${sql.raw(descending ? 'min' : 'max')}(k)`;
  return {
    ends: sql`select count(*) as n, ${fragments.asText(last, key)} as edge, ${fragments.instantText(sql`max(created)`)} as newest_created,
      ${fragments.instantText(sql`max(published)`)} as last_published
      from (select ${at.column(name)} as k, ${told(created)} as created, ${told(published)} as published from ${from}${order}${sql.lit(limit)}) as w`,
    rows: (edge) =>
      sql`select ${baseColumns(outbox, at, traits, SCAN)} from ${from} where ${at.column(name)} ${sql.raw(descending ? '>=' : '<=')} ${fragments.typed(edge, key)}
        and (${wanted.length === 0 ? sql`false` : sql.join(wanted, sql` or `)})${order}${sql.lit(FETCHED_ROWS)}`,
  };
}

/** Most rows were published long ago, which the column itself tells at less cost; a day is more than zones differ by. */
function longAgo(outbox: Outbox, at: PlaceSql, foldedTo: string): Sql[] {
  const name = timeColumn(outbox.main, 'publishedAt');
  const description = name === null ? undefined : outbox.main.description.columns.get(name);
  // Texts of times do not sort exactly as the times do.
  if (name === null || description === undefined || description.time === 'iso') return [];
  const dayBefore = new Date(Date.parse(foldedTo) - 86_400_000).toISOString();
  return [sql`${at.column(name)} >= ${outbox.database.engine.fragments.instantValue(dayBefore, description, outbox.parameters.timeZone)}`];
}
