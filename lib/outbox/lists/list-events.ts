import { sql } from 'kysely';
import type { Db, Direction } from '@/lib/database/description';
import { plainColumn } from '@/lib/shape/bound';
import type { EventFilter, EventPage, VersionedEvent } from '@/lib/shared/model';
import { createIndexStatement, indexedPlace, listIndex } from '../indexes/wanted-index';
import type { Outbox } from '../outbox';
import { toEvent } from '../rows/row';
import { idFits } from '../rows/row-id';
import { type Cursor, decodeCursor, encodeCursor, foreignCursor, keyFits } from './cursor';
import { causePage, type Seeing } from './dead-letters';
import { type ListRow, type ListStart, type Look, lookedAt, mergedRows, type Page, type Span, stretches, wayOf } from './sql';
import { ALL, type List, listOf, type Position, unlimited, type Walk } from './walks';

export interface PageRequest {
  cursor?: string;
  /** 1 to 500: at most 200 for a page, 500 for a step of a plan. */
  limit: number;
}

/**
 * One page of events in the order the table's indexes give, keyset-paged in both directions; each state and table is read by its own index.
 * Other filters are tried on a bounded number of rows. Locks nothing. Throws Problem `invalid` for a foreign cursor, DatabaseFailure.
 */
export async function listEvents(
  outbox: Outbox,
  filter: EventFilter,
  page: PageRequest,
  see: Seeing | null = null,
  list: List = filter.cause === undefined ? listOf(outbox, filter) : listOfDead(outbox, filter),
): Promise<EventPage<VersionedEvent>> {
  const order = filter.order ?? 'newest';
  const { cause } = filter;
  const { walks, leftOut, missingIndex } = list;
  const { by } = list.order;
  const { engine } = outbox.database;
  const cursor = page.cursor === undefined ? null : decodeCursor(page.cursor, order, by);
  if (cursor !== null && !fitsKey(outbox, cursor.id)) throw foreignCursor();
  const from = cursor?.key ?? null;
  if (from !== null && !walks.every(({ key }) => key === null || keyFits(from, key.description, engine))) throw foreignCursor();
  const start = { order, cursor, walks };
  const [now, { shown, looked, more }] =
    cause === undefined
      ? await outbox.database.read(async (db) => {
          await engine.byIndex(db);
          return [await timeOf(outbox, db), await readPage(outbox, db, start, page.limit)] as const;
        })
      : [await outbox.database.read((db) => timeOf(outbox, db)), await causePage(outbox, { ...filter, cause }, start, page.limit, see)];
  const at = (position: Position, direction: Cursor['direction']): string =>
    encodeCursor({ order, by, direction, key: position.key, id: position.id });
  const ofRow = (row: ListRow): Position => ({ key: row.position, id: row.id });
  const [first, last] = [shown[0], shown.at(-1)];
  const { backwards } = wayOf(start);
  // `onward`: where the next page in this direction starts; `behind`: where the opposite direction starts.
  const end = backwards ? first : last;
  const onward = more && end !== undefined ? ofRow(end) : looked.end;
  const behind = backwards ? last : cursor === null ? undefined : first;
  const [next, previous] = backwards ? [behind && ofRow(behind), onward] : [onward, behind && ofRow(behind)];
  return {
    asOf: now,
    events: shown.map((row) => toEvent(outbox, row.place, row)),
    nextCursor: next ? at(next, 'next') : null,
    previousCursor: previous ? at(previous, 'previous') : null,
    orderedBy: by,
    searched: {
      rows: Math.max(looked.rows, shown.length),
      backTo: (more || backwards ? (last?.position_at ?? last?.createdAt) : looked.backTo) ?? null,
      complete: !more && looked.end === null && leftOut.length === 0 && !walks.some(({ tried }) => tried.on === 'sample'),
    },
    leftOut,
    missingIndex: missingIndex === null ? null : adviceOn(outbox, missingIndex),
  };
}

/** The dead events to search for a cause. Types are matched later, with the cause; no walks if the filter excludes dead events. */
function listOfDead(outbox: Outbox, { type: _, state, ...filter }: EventFilter): List {
  const list = listOf(outbox, { ...filter, state: ['dead'] });
  return state === undefined || state.includes('dead') ? list : { ...list, walks: [], leftOut: [], missingIndex: null };
}

async function timeOf({ database }: Outbox, db: Db): Promise<string> {
  const { rows } = await sql<{ now: string }>`select ${database.engine.fragments.nowIso()} as now`.execute(db);
  return rows[0]?.now ?? '';
}

/** Whether an id can be a key of this table, else the cursor is foreign; kinds of key not checked here are left to the database. */
function fitsKey({ main, database }: Outbox, id: string): boolean {
  const checked = main.id.length > 1 || main.id.every((column) => column.kind === 'uuid' || column.kind === 'integer');
  return !checked || idFits(database.engine, main, id);
}

/** Rows of each walk that are tried first; the full search follows only if they do not fill the page. */
const NEAR_ROWS = 2_000;

async function readPage(outbox: Outbox, db: Db, start: ListStart, limit: number): Promise<Page> {
  const { backwards, direction } = wayOf(start);
  const looked: Look = { rows: 0, end: null, backTo: null };
  const rows: ListRow[] = [];
  const search = outbox.database.engine.features.streamsSubqueries ? streamed : boundedFirst;
  for (const { stretch, after } of stretches(start)) {
    const span = { stretch, direction, after, until: null, limit: limit + 1 - rows.length };
    const found = await search(readerOf(outbox, db, span), start.walks, span);
    rows.push(...found.rows);
    if (rows.length > limit) break;
    looked.rows += found.looks.reduce((sum, one) => sum + one.rows, 0);
    looked.backTo = furthest([looked.backTo, ...found.looks.map((one) => one.backTo)], direction);
    if (found.end === null) continue;
    Object.assign(looked, { end: found.end, backTo: found.end.at });
    break;
  }
  const shown = rows.slice(0, limit);
  if (backwards) shown.reverse();
  return { shown, more: rows.length > limit, looked };
}

interface Search {
  rows: ListRow[];
  looks: Look[];
  /** Where the page has to end although more may follow; null if it ends with its rows, or is full. */
  end: Look['end'];
}

/** For engines that stream subqueries: reads the rows first, then how far each walk got, if that can matter. */
async function streamed(reader: Reader, given: readonly Walk[], span: Span): Promise<Search> {
  const walks = unlimited(given);
  const rows = await reader.merged(walks);
  const last = rows[span.limit - 1];
  // Another walk that reached its limit before the last row may have unread rows in between.
  const before = last === undefined || walks.length === 1 ? [] : (await reader.looks(walks, { key: last.position, id: last.id })).values();
  if (last !== undefined && [...before].every(({ end }) => end === null)) return { rows, looks: [], end: null };
  const looks = [...(await reader.looks(walks)).values()];
  const end = await reader.nearestEnd(walks, looks);
  // Rows that another walk found beyond this end belong to later pages.
  const beyond = end !== null && rows.length > 0 && walks.length > 1;
  return { rows: beyond ? await reader.merged(walks, end) : rows, looks, end };
}

/** For engines that materialise subqueries: gives each walk its end beforehand, first within NEAR_ROWS, which mostly fills a page. */
async function boundedFirst(reader: Reader, given: readonly Walk[], span: Span): Promise<Search> {
  const within = async (most: number): Promise<Search> => {
    const walks = given.map((walk): Walk => {
      const { tests, key, index, tried } = walk;
      if (tests.length > 0) return tried.on === 'first' ? { ...walk, tried: { ...tried, rows: Math.min(tried.rows, most) } } : walk;
      return { ...walk, tried: key !== null && index !== null && span.stretch === 'keyed' ? { on: 'first', rows: span.limit } : ALL };
    });
    const found = await reader.looks(walks);
    const looks = walks.flatMap((walk) => (walk.tests.length === 0 ? [] : (found.get(walk) ?? [])));
    const end = await reader.nearestEnd(walks, looks);
    const ended = walks.map((walk): Walk => {
      const last = found.get(walk)?.end ?? null;
      return walk.tried.on === 'first' ? { ...walk, tried: last === null ? ALL : { on: 'upTo', last } } : walk;
    });
    return { rows: await reader.merged(ended, end), looks, end };
  };
  const near = await within(NEAR_ROWS);
  return near.rows.length >= span.limit || near.end === null ? near : within(Infinity);
}

type Reader = ReturnType<typeof readerOf>;

/** Reads one stretch of a page, up to `until` if given. */
function readerOf(outbox: Outbox, db: Db, span: Span) {
  return {
    async merged(walks: readonly Walk[], until: Position | null = null): Promise<ListRow[]> {
      const statement = mergedRows(outbox, walks, { ...span, until });
      return statement === null ? [] : (await statement.execute(db)).rows;
    },
    /** How many rows each bounded walk reads, and where it ends. */
    async looks(walks: readonly Walk[], until: Position | null = null): Promise<Map<Walk, Look>> {
      const found = new Map<Walk, Look>();
      for (const walk of walks) {
        const { tried } = walk;
        if (tried.on === 'sample') found.set(walk, { rows: tried.rows, end: null, backTo: null });
        const statement = lookedAt(outbox, walk, { ...span, until });
        const [last] = statement === null ? [] : (await statement.execute(db)).rows;
        if (last === undefined || tried.on !== 'first') continue;
        const rows = Number(last.n);
        found.set(walk, { rows, backTo: last.at, end: rows === tried.rows ? { key: last.position, id: last.id, at: last.at } : null });
      }
      return found;
    },
    /** The nearest of several ends in the list's order: up to there, all searches are complete. */
    async nearestEnd(walks: readonly Walk[], looks: readonly Look[]): Promise<Look['end']> {
      const ends = looks.flatMap(({ end }) => (end === null ? [] : [end]));
      const [only] = ends;
      const id = walks[0]?.at.id;
      if (only === undefined || ends.length === 1 || id === undefined) return only ?? null;
      const key = walks.find((walk) => walk.key !== null)?.key ?? null;
      const { typed } = outbox.database.engine.fragments;
      const way = sql.raw(span.direction);
      const positions = ends.map(
        (end, index) =>
          sql`select ${sql.lit(index)} as i, ${key === null || end.key === null ? sql`null` : typed(end.key, key.description)} as sort_key, ${sql.join((id.values(end.id) ?? []).map((value, part) => sql`${value} as ${sql.id(`id_${part}`)}`))}`,
      );
      const order = [
        ...(key === null || span.stretch === 'unkeyed' ? [] : [sql`sort_key ${way}`]),
        ...id.columns.map((_, part) => sql`${sql.id(`id_${part}`)} ${way}`),
      ];
      const { rows } = await sql<{ i: number | string }>`select i from (${sql.join(positions, sql` union all `)}) as ends
        order by ${sql.join(order)} limit 1`.execute(db);
      return ends[Number(rows[0]?.i ?? 0)] ?? only;
    },
  };
}

const furthest = (times: readonly (string | null)[], direction: Direction): string | null =>
  times
    .flatMap((time) => time ?? [])
    .sort()
    .at(direction === 'desc' ? 0 : -1) ?? null;

/** The missing index as a statement that the table's owner can run; null if there is none. */
function adviceOn(outbox: Outbox, code: 'order' | 'aggregate'): EventPage['missingIndex'] {
  const { main, database } = outbox;
  const column = plainColumn(main, code === 'order' ? 'createdAt' : 'aggregateId');
  if (column === null) return null;
  const wanted = listIndex(main, column.name);
  const sql = createIndexStatement(database.engine, indexedPlace(main), code === 'order' ? wanted : { ...wanted, purpose: 'aggregate' });
  return sql === null ? null : { code, sql };
}
