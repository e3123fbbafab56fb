import { type RawBuilder, sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Place } from '@/lib/shape/bound';
import { and } from '@/lib/shape/compile';
import type { FoundEvent, FoundIn } from '@/lib/shared/lists/found';
import type { OutboxEvent, VersionedEvent } from '@/lib/shared/model';
import { allPlaces, isSmall, type Outbox } from '../outbox';
import { eventColumns, placeSql, toEvent, type EventRow, type PlaceSql } from '../rows/row';
import { hasTime } from '../scan/traits';
import { anyEquality, keyEqualities } from './filters';
import { listEvents } from './list-events';
import { listOf, SEARCH_ROWS, type Walk } from './walks';

/** Events that are shown of one outbox. */
const FOUND_MAX = 20;
/** Rows of one value that are looked at for the worst of them: an aggregate may have millions. */
const ROWS_OF_KEY = 1_000;
/** Without an index a table of up to this many rows is read whole in the same statement; a larger one is searched as lists are. */
const WHOLE_ROWS = 10_000;
const TIMEOUT_MS = 500;

type EventFate = FoundEvent['fate'];

/** Worst first; an event in no known state may be any of the ones after it. */
export const EVENT_FATES: readonly EventFate[] = ['dead', 'not_known', 'stuck', 'retrying', 'waiting', 'archived', 'out'];

/** A business key in an outbox. `hidden`: roles that must not be searched for whoever asks. */
export type WantedKey = { key: string; hidden: ReadonlySet<string> };

export interface FoundRows {
  /** At most FOUND_MAX, worst first, then newest. */
  events: { event: VersionedEvent; fate: EventFate }[];
  more: boolean;
  searched: NonNullable<FoundIn['searched']>;
}

/** What a search without an index found; `events` are read again by id whenever they are shown. */
export interface FoundBySearch {
  ids: string[];
  more: boolean;
  searched: FoundRows['searched'];
  /** When it began; ISO 8601 UTC. */
  at?: string;
}

type Reach = 'index' | 'whole' | 'search';

/** The tests for a key in one place that its rows are reached by in this way. */
function testsOf(outbox: Outbox, at: PlaceSql, { key, hidden }: WantedKey, reach: Reach) {
  const { estimatedRows } = at.place.description;
  const otherwise: Reach = estimatedRows !== null && estimatedRows <= WHOLE_ROWS ? 'whole' : 'search';
  return keyEqualities(outbox, at, key, hidden).filter(({ indexed }) => (indexed ? 'index' : otherwise) === reach);
}

/** Whether a large table has to be searched for the key, as no index leads to it. */
export const lacksIndex = (outbox: Outbox, question: WantedKey): boolean =>
  allPlaces(outbox).some((place) => testsOf(outbox, placeSql(outbox, place), question, 'search').length > 0);

/** Searches as lists are, at most 100,000 rows of each order, each by itself: none ends where another does. Throws DatabaseFailure. */
export async function searchKey(outbox: Outbox, question: WantedKey): Promise<FoundBySearch> {
  const equalOf = (at: PlaceSql) => {
    const tests = testsOf(outbox, at, question, 'search');
    return tests.length === 0 ? null : { indexed: [], unindexed: [anyEquality(tests)], enough: false };
  };
  const list = listOf(outbox, {}, equalOf, allPlaces(outbox));
  const found: FoundBySearch = { ids: [], more: false, searched: { rows: 0, backTo: null, complete: list.leftOut.length === 0 } };
  for (const walk of list.walks) {
    const { place } = walk.at;
    const tried: Walk['tried'] = walk.tried.on === 'all' && !isSmall(place) ? { on: 'sample', rows: SEARCH_ROWS } : walk.tried;
    try {
      const one = { ...list, walks: [{ ...walk, tried }], leftOut: [] };
      const { events, searched } = await listEvents(outbox, {}, { limit: FOUND_MAX + 1 }, null, one);
      found.ids.push(...events.map(({ id }) => id));
      // A small table is tried whole, which lists do not count.
      found.searched.rows += Math.max(searched.rows, isSmall(place) ? Math.round(place.description.estimatedRows ?? 0) : 0);
      found.searched.complete &&= searched.complete;
      if (!searched.complete && (searched.backTo ?? '') > (found.searched.backTo ?? '')) found.searched.backTo = searched.backTo;
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || error.code !== 'timeout') throw error;
      found.searched.complete = false;
      break;
    }
  }
  return { ...found, ids: found.ids.slice(0, FOUND_MAX), more: found.ids.length > FOUND_MAX };
}

type KeyRow = { place: Place['key']; id: string; looked: number | string };

/**
 * The key's events as they are now: by index, in small tables, and those with an id of `by`. One statement of at most half a second, each
 * part served by an index or bounded by WHOLE_ROWS, and by ROWS_OF_KEY rows; what it finds is read whole by primary key. Locks nothing.
 * Throws DatabaseFailure.
 */
export async function readKey(outbox: Outbox, question: WantedKey, by: FoundBySearch): Promise<FoundRows> {
  const { database } = outbox;
  const places = allPlaces(outbox).map((place) => placeSql(outbox, place));
  let wholeRows = 0;
  const arms = places.flatMap((at) => {
    const whole = testsOf(outbox, at, question, 'whole');
    if (whole.length > 0) wholeRows += Math.round(at.place.description.estimatedRows ?? 0);
    const tests = [...testsOf(outbox, at, question, 'index').map(({ test }) => test), ...(whole.length > 0 ? [anyEquality(whole)] : [])];
    return [...tests, ...(by.ids.length > 0 ? [at.id.among(by.ids)] : [])].map((test) => armOf(outbox, at, test));
  });
  const [rows, events] = await database.read(
    async (db) => {
      await database.engine.byIndex(db);
      const found = arms.length === 0 ? [] : (await sql<KeyRow>`${sql.join(arms, sql` union all `)}`.execute(db)).rows;
      return [found, await readEvents(outbox, db, places, found)] as const;
    },
    { statementMs: TIMEOUT_MS },
  );
  return {
    events: events.slice(0, FOUND_MAX),
    more: by.more || new Set(rows.map(({ id }) => id)).size > FOUND_MAX,
    searched: {
      rows: by.searched.rows + wholeRows + events.filter(({ event }) => !by.ids.includes(event.id)).length,
      backTo: by.searched.backTo,
      complete: by.searched.complete && rows.every(({ looked }) => Number(looked) <= ROWS_OF_KEY),
    },
  };
}

/** By primary key, wherever they are by now, each where it is found first, as on its page. */
async function readEvents(outbox: Outbox, db: Db, places: readonly PlaceSql[], found: readonly KeyRow[]): Promise<FoundRows['events']> {
  const ids = [...new Set(found.map(({ id }) => id))];
  if (ids.length === 0) return [];
  const arms = places.map(
    (at, order) =>
      sql`select ${sql.lit(order)} as place_order, ${sql.lit(at.place.key)} as place, ${fateOf(outbox, at)} as fate, ${eventColumns(outbox, at)}
      from ${at.from} where ${and([at.id.among(ids), ...(at.rows === null ? [] : [at.rows])])}`,
  );
  type Row = EventRow & Pick<KeyRow, 'place'> & Record<'fate' | 'place_order', number | string>;
  const { rows } = await sql<Row>`${sql.join(arms, sql` union all `)}`.execute(db);
  const events = new Map<string, FoundRows['events'][number]>();
  for (const row of rows.toSorted((a, b) => Number(b.place_order) - Number(a.place_order)))
    events.set(row.id, { event: toEvent(outbox, row.place, row), fate: EVENT_FATES[Number(row.fate)] ?? 'not_known' });
  return [...events.values()].toSorted(worstFirst);
}

/** Worst fate first, then newest. */
export function worstFirst(a: { event: OutboxEvent; fate: EventFate }, b: typeof a): number {
  const newest = (x: string, y: string): number => (x === y ? 0 : x > y ? -1 : 1);
  return (
    EVENT_FATES.indexOf(a.fate) - EVENT_FATES.indexOf(b.fate) ||
    newest(a.event.createdAt ?? '', b.event.createdAt ?? '') ||
    newest(a.event.id, b.event.id)
  );
}

function armOf(outbox: Outbox, at: PlaceSql, test: RawBuilder<boolean>): RawBuilder<unknown> {
  const created = at.role('createdAt');
  const order = [sql`fate`, ...(created === null ? [] : [sql`${created.sql} desc`]), at.id.order('desc')];
  return sql`(select ${sql.lit(at.place.key)} as place, ${at.id.text} as id, count(*) over () as looked, ${fateOf(outbox, at)} as fate
    from (select ${outbox.database.engine.fragments.wholeRow(at.alias, at.place.description)} from ${at.from}
      where ${and([test, ...(at.rows === null ? [] : [at.rows])])} limit ${sql.lit(ROWS_OF_KEY + 1)}) as ${sql.ref(at.alias)}
    order by ${sql.join(order)} limit ${sql.lit(FOUND_MAX + 1)})`;
}

/** The row's place in EVENT_FATES. A claim counts by the database's clock. */
function fateOf({ database, parameters }: Outbox, at: PlaceSql): RawBuilder<number> {
  const { now, sane, secondsBefore } = database.engine.fragments;
  const claimed = hasTime(at.place, 'attemptedAt') ? at.roleInstant('attemptedAt') : null;
  const stuck = claimed === null ? sql`false` : sql`${sane(claimed)} < ${secondsBefore(now(), parameters.stuckAfterSeconds)}`;
  const rank = (fate: EventFate) => sql.lit(EVENT_FATES.indexOf(fate));
  return sql`(case ${at.state} when 'dead' then ${rank('dead')} when 'processing' then (case when ${stuck} then ${rank('stuck')} else ${rank('waiting')} end)
    when 'retrying' then ${rank('retrying')} when 'pending' then ${rank('waiting')} when 'archived' then ${rank('archived')}
    when 'published' then ${rank('out')} else ${rank('not_known')} end)`;
}
