import { sql, type RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { EventFilter, EventPage } from '@/lib/shared/model';
import { decodeCursor, encodeCursor, type Cursor } from './cursor';
import { matchesOf, placesFor, scopeOf } from './list-filters';
import type { Outbox, Place } from './outbox';
import { eventColumns, placeSql, toEvent, type EventRow, type PlaceSql } from './row';

/** A search looks at this many rows of a table at the most, newest (or oldest) first, and says how far it came. */
export const SEARCH_ROWS = 100_000;

export interface PageRequest {
  cursor?: string;
  /** 1 to 200. */
  limit: number;
}

type ListRow = EventRow & { place: Place['key'] };

/**
 * One page of events by creation time, keyset-paged in both directions. Reads at most SEARCH_ROWS rows per table by
 * the order's index where there is one, under the reader's statement timeout; locks nothing.
 * Throws Problem `invalid` for a foreign cursor, DatabaseFailure for the database's own.
 */
export async function listEvents(outbox: Outbox, filter: EventFilter, page: PageRequest): Promise<EventPage> {
  const order = filter.order ?? 'newest';
  const cursor = page.cursor === undefined ? null : decodeCursor(page.cursor, order);
  return outbox.database.read((db) => readPage(outbox, db, { ...filter, order }, cursor, page.limit));
}

async function readPage(
  outbox: Outbox,
  db: Db,
  filter: EventFilter & { order: Cursor['order'] },
  cursor: Cursor | null,
  limit: number,
): Promise<EventPage> {
  const { fragments } = outbox.database.engine;
  const backwards = cursor?.direction === 'previous';
  // Walking to the previous page means walking the other way round and turning the rows over.
  const walk = backwards ? opposite(filter.order) : filter.order;
  const branches = placesFor(outbox, filter).flatMap((place) => {
    const at = placeSql(outbox, place);
    const scope = scopeOf(outbox, at, filter, cursor, walk);
    return scope === null ? [] : [{ place, at, source: sourceOf(outbox, at, scope, matchesOf(outbox, at, filter), walk, limit + 1) }];
  });
  const asOf = (await sql<{ now: string }>`select ${fragments.nowIso()} as now`.execute(db)).rows[0]?.now ?? '';
  if (branches.length === 0)
    return { asOf, events: [], nextCursor: null, previousCursor: null, searched: { rows: 0, backTo: null, complete: true } };

  const selects = branches.map(
    ({
      place,
      at,
      source,
    }) => sql`(select ${sql.lit(place.key)} as place, ${eventColumns(outbox, at)}, ${sortKey(at)} as sort_key, ${idKey(at)} as sort_id
      from ${source.page(at.alias)})`,
  );
  const { rows } =
    await sql<ListRow>`select * from (${sql.join(selects, sql` union all `)}) as page order by ${orderBy(walk)} limit ${sql.lit(limit + 1)}`.execute(
      db,
    );
  const more = rows.length > limit;
  const shown = rows.slice(0, limit);
  if (backwards) shown.reverse();

  const first = shown[0];
  const last = shown.at(-1);
  const reach = more ? null : await reachOf(db, branches, walk);
  const cutShort = reach !== null && !reach.complete;
  const forward = (): string | null => {
    if (backwards) return last === undefined ? null : cursorAt(filter.order, 'next', last);
    if (more && last !== undefined) return cursorAt(filter.order, 'next', last);
    return cutShort && reach.end !== null ? encodeCursor({ order: filter.order, direction: 'next', ...reach.end }) : null;
  };
  const backward = (): string | null => {
    if (first === undefined) return null;
    if (backwards) return more ? cursorAt(filter.order, 'previous', first) : null;
    return cursor === null ? null : cursorAt(filter.order, 'previous', first);
  };
  return {
    asOf,
    events: shown.map((row) => toEvent(outbox, row.place, row)),
    nextCursor: forward(),
    previousCursor: backward(),
    searched: {
      rows: Math.max(reach?.rows ?? 0, shown.length),
      backTo: (reach === null || backwards ? last?.created_at : reach.backTo) ?? null,
      complete: reach?.complete ?? false,
    },
  };
}

const opposite = (order: Cursor['order']): Cursor['order'] => (order === 'newest' ? 'oldest' : 'newest');

function cursorAt(order: Cursor['order'], direction: Cursor['direction'], row: ListRow): string {
  return encodeCursor({ order, direction, createdKey: row.created_key, id: row.id });
}

const sortKey = (at: PlaceSql): RawBuilder<unknown> => at.role('createdAt')?.sql ?? sql`null`;
const idKey = (at: PlaceSql): RawBuilder<unknown> => at.role('id')?.sql ?? sql`null`;

function orderBy(walk: Cursor['order']): RawBuilder<unknown> {
  return walk === 'newest' ? sql`sort_key desc nulls last, sort_id desc` : sql`sort_key asc nulls first, sort_id asc`;
}

const and = (tests: RawBuilder<boolean>[]): RawBuilder<boolean> => (tests.length === 0 ? sql`true` : sql`${sql.join(tests, sql` and `)}`);

interface Source {
  /** The rows of the page, under the alias of the place: chosen before anything is worked out of them. */
  page(alias: string): RawBuilder<unknown>;
  /** The rows a bounded search looks at. */
  searched(alias: string): RawBuilder<unknown>;
  /** True when the rows were cut at SEARCH_ROWS before the filters saw them. */
  bounded: boolean;
}

/**
 * Filters that no index serves are tried on the first SEARCH_ROWS rows of the walk only, where an index gives that
 * order. Without such an index every row has to be read anyway, and the statement timeout is the bound.
 */
function sourceOf(
  outbox: Outbox,
  at: PlaceSql,
  scope: RawBuilder<boolean>[],
  matches: RawBuilder<boolean>[],
  walk: Cursor['order'],
  pageRows: number,
): Source {
  const order = columnOrder(at, walk);
  const rows = (where: RawBuilder<boolean>[], limit: number, alias: string): RawBuilder<unknown> =>
    sql`(select ${outbox.database.engine.fragments.wholeRow(at.alias)} from ${at.from} where ${and(where)} order by ${order} limit ${sql.lit(limit)}) as ${sql.ref(alias)}`;
  const searched = (alias: string): RawBuilder<unknown> => rows(scope, SEARCH_ROWS, alias);
  const found = (alias: string): RawBuilder<unknown> =>
    sql`(select ${sql.ref(at.alias)}.* from ${searched(at.alias)} where ${and(matches)} order by ${order} limit ${sql.lit(pageRows)}) as ${sql.ref(alias)}`;
  const bounded = matches.length > 0 && orderIsIndexed(at);
  return {
    page: (alias) => (bounded ? found(alias) : rows([...scope, ...matches], pageRows, alias)),
    searched,
    bounded,
  };
}

/** The order of the walk in the words an index on (creation, key) has for it: NULLS are said only of a column that has them. */
function columnOrder(at: PlaceSql, walk: Cursor['order']): RawBuilder<unknown> {
  const direction = sql.raw(walk === 'newest' ? 'desc' : 'asc');
  const created = at.role('createdAt');
  if (created === null) return sql`${idKey(at)} ${direction}`;
  const nulls = created.description.nullable ? sql.raw(walk === 'newest' ? ' nulls last' : ' nulls first') : sql.raw('');
  return sql`${created.sql} ${direction}${nulls}, ${idKey(at)} ${direction}`;
}

function orderIsIndexed(at: PlaceSql): boolean {
  const leading = (at.place.roles.createdAt ?? at.place.roles.id)?.column.name;
  return at.place.description.indexes.some((index) => index.columns[0] === leading && index.predicate === null);
}

interface Reach {
  rows: number;
  backTo: string | null;
  complete: boolean;
  /** The last row looked at, where a further search goes on. */
  end: { createdKey: string | null; id: string } | null;
}

/** How much a bounded search looked at when the page is not full: only then has it come to its own end. */
async function reachOf(db: Db, branches: { at: PlaceSql; source: Source }[], walk: Cursor['order']): Promise<Reach> {
  let reach: Reach = { rows: 0, backTo: null, complete: true, end: null };
  for (const { at, source } of branches) {
    // An unbounded source has tried its filters on every row: there is nothing further to search.
    if (!source.bounded) continue;
    const rowsRead = source.searched(at.alias);
    const { rows } = await sql<{ n: string; back_to: string | null; created_key: string | null; id: string | null }>`
      select counted.n::text as n, ends.* from (select count(*) as n from ${rowsRead}) as counted left join lateral
        (select ${at.roleIso('createdAt')} as back_to, ${at.roleText('createdAt')} as created_key, ${at.roleText('id')} as id
          from ${rowsRead} order by ${sortKey(at)} ${sql.raw(walk === 'newest' ? 'asc' : 'desc')}, ${idKey(at)} ${sql.raw(walk === 'newest' ? 'asc' : 'desc')} limit 1) as ends on true`.execute(
      db,
    );
    const row = rows[0];
    if (row === undefined) continue;
    const count = Number(row.n);
    const cut = count >= SEARCH_ROWS;
    reach = {
      rows: reach.rows + count,
      backTo: reach.backTo === null || (row.back_to !== null && row.back_to < reach.backTo) ? row.back_to : reach.backTo,
      complete: reach.complete && !cut,
      end: cut && row.id !== null ? { createdKey: row.created_key, id: row.id } : reach.end,
    };
  }
  return reach;
}
