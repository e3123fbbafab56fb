import { sql } from 'kysely';
import type { ColumnDescription } from '@/lib/database/engine';
import { compileCondition, statePredicate } from '@/lib/shape/compile';
import { commonTests, notNull } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import { fitPosition, fitRange, fitTests, type Fit } from '../indexes/index-fit';
import type { Outbox } from '../outbox';
import type { Place } from '@/lib/shape/bound';
import { placeSql, type PlaceSql } from '../rows/row';
import { DEPTH_CAP } from '@/lib/shared/figures/measured';
import { baseColumns } from './base-columns';
import { scanOf } from './scan';
import { PARTS, STATES_OF, type Part, type Source } from './source';
import type { Sql } from './sql-terms';
import { timeColumn, type Traits } from './traits';

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
 * The bounded reads that give the base of a reading: what an index serves is read by it, everything else comes from one
 * scan of the table's first rows (newest first where the key is a number). Rows published before `foldedTo` (ISO 8601)
 * are in the rollups; null while nothing is collected.
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
    const direction = part === 'dead' ? 'descending' : 'ascending';
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
        : fitPosition(outbox.main, at.alias, outbox.scope.cursor.position, 'descending'));
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
  return { name: part, limit, parts: [part], ordered: fit.ordered, counted: null, walk: null, query };
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
