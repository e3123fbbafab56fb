/** What no index finds: the table is read from its beginning, or from its end where the key is a number. */
import { sql } from 'kysely';
import { statePredicate } from '@/lib/shape/compile';
import { numberedKey, uniqueKey } from '../indexes/index-fit';
import type { Outbox } from '../outbox';
import type { PlaceSql } from '../rows/row';
import { baseColumns } from './base-columns';
import { STATES_OF, type Part, type Source, type Walk } from './source';
import type { Sql } from './sql-terms';
import { hasTime, timeColumn, type Traits } from './traits';

/** Name of the source. */
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

/** The scan of at most so many rows. */
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
