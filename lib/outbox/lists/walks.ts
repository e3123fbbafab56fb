import { sql } from 'kysely';
import type { ColumnDescription } from '@/lib/database/description';
import type { EventFilter } from '@/lib/shared/model';
import { LIVE_STATES, type EventState, type LiveState } from '@/lib/shared/states';
import { and, compileCondition, or, statePredicate } from '@/lib/shape/compile';
import { commonTests } from '@/lib/shape/reason';
import type { Leaf } from '@/lib/shape/schema/condition';
import { fitWalk, uniqueKey, type Walk as IndexWalk } from '../indexes/index-fit';
import { equalities, placesFor, rowTests, timeScope, type Equalities } from './filters';
import { listOrder, type ListOrder } from './order';
import { PARTS, STATES_OF, type Part } from '../scan/sources';
import type { Sql } from '../scan/sql-terms';
import { isSmall, type Outbox } from '../outbox';
import { plainColumn } from '@/lib/shape/bound';
import { placeSql, type PlaceSql } from '../rows/row';

/** In a large table, a search tries its filters on at most this many rows of a walk and reports how far it got. */
export const SEARCH_ROWS = 100_000;
/** The same for a walk by random keys, where each row is on a page of its own. */
const SCATTERED_SEARCH_ROWS = 10_000;

type OfStates = (states: readonly LiveState[]) => Sql<boolean> | null;

/** What rows are ordered by before their key; null if they are ordered by key alone. */
export interface SortKey {
  role: 'createdAt' | 'publishedAt';
  sql: Sql;
  description: ColumnDescription;
  iso: Sql<string | null>;
  nullable: boolean;
}

/** A row's position in a list; `key` is null if the row has no sort key. */
export type Position = { key: string | null; id: string };

/** Rows of one table in the order of the list, and how they are found. */
export interface Walk {
  at: PlaceSql;
  key: SortKey | null;
  where: Sql<boolean>[];
  tests: Sql<boolean>[];
  /** The index that gives the order; null if the rows are sorted. */
  index: IndexWalk | null;
  tried: Tried;
}

/** The rows that tests are tried on: the first in order, those up to `last`, or a sample: the table's first, unordered, no next page. */
export type Tried = { on: 'all' } | { on: 'first' | 'sample'; rows: number } | { on: 'upTo'; last: Position };
export const ALL: Tried = { on: 'all' };

export type Walks = { walks: Walk[]; leftOut: EventState[]; missingIndex: 'order' | 'aggregate' | null };

export type List = Walks & { order: ListOrder };

/** A walk without tests returns a row at each step, so its reader's limit bounds it. */
export const unlimited = (walks: readonly Walk[]): Walk[] =>
  walks.map((walk) => (walk.tests.length === 0 ? { ...walk, tried: ALL } : walk));

/** Walks that together give every matching row exactly once; `equalOf`, `places` and `order` where they are not the filter's and the table's. */
export function listOf(
  outbox: Outbox,
  filter: EventFilter,
  equalOf: (at: PlaceSql) => Equalities | null = (at) => equalities(outbox, at, filter),
  places = placesFor(outbox, filter),
  order = listOrder(outbox),
): List {
  const found: List = { order, walks: [], leftOut: [], missingIndex: null };
  for (const place of places) {
    const at = placeSql(outbox, place);
    const part = partOf(outbox, order, filter, at, equalOf(at));
    if (part === null) continue;
    const one = place.key === 'main' ? mainWalks(part, filter.state ?? []) : otherWalks(part);
    found.walks.push(...one.walks);
    found.leftOut.push(...one.leftOut);
    found.missingIndex ??= one.missingIndex;
  }
  return found;
}

/** A list's part in one table: how it is ordered there, and its filter as tests. */
interface ListPart {
  outbox: Outbox;
  order: ListOrder;
  filter: EventFilter;
  at: PlaceSql;
  /** The sort key by creation; null if rows are ordered by key alone. */
  key: SortKey | null;
  times: Sql<boolean>[];
  equal: Equalities;
  tests: Sql<boolean>[];
}

/** null if no row of the table can match. */
function partOf(outbox: Outbox, order: ListOrder, filter: EventFilter, at: PlaceSql, equal: Equalities | null): ListPart | null {
  const key = order.by === 'key' ? null : roleKey(at, 'createdAt');
  return equal && { outbox, order, filter, at, key, times: timeScope(outbox, at, filter), tests: rowTests(outbox, at, filter), equal };
}

function mainWalks(part: ListPart, asked: readonly EventState[]): Walks {
  const { outbox, order, at, times, equal } = part;
  const wanted = asked.filter((state): state is LiveState => (LIVE_STATES as readonly string[]).includes(state));
  const states: readonly LiveState[] = wanted.length > 0 ? wanted : LIVE_STATES;
  const predicate: OfStates = (some) => statePredicate(outbox.shape, some, at.alias, outbox.scope);
  const chosen = wanted.length === 0 ? null : predicate(wanted);
  if (wanted.length > 0 && chosen === null) return { walks: [], leftOut: [], missingIndex: null };

  const small = isSmall(at.place);
  const filtered = [...times, ...part.tests];
  const walks: Walk[] = equal.indexed.map((test) => ({
    ...walk(at, mixedKey(part)),
    where: [...(chosen === null ? [] : [chosen]), test, ...filtered],
  }));
  const done = (leftOut: EventState[] = [], missingIndex: Walks['missingIndex'] = null): Walks => {
    const { rows } = at;
    return { walks: rows === null ? walks : walks.map((one) => ({ ...one, where: [rows, ...one.where] })), leftOut, missingIndex };
  };
  if (equal.enough) return done();
  const tests = [...part.tests, ...equal.unindexed];
  const missing = equal.unindexed.length > 0 && !small ? 'aggregate' : null;

  const everything = order.whole !== null && wanted.length === 0;
  const served = everything
    ? []
    : PARTS.filter((one) => order.parts[one] !== undefined && STATES_OF[one].some((state) => states.includes(state)));
  for (const one of served) {
    const where = predicate(STATES_OF[one].filter((state) => states.includes(state)));
    if (where !== null) walks.push(partWalk(part, one, where, tests));
  }
  const rest = states.filter((state) => !served.some((one) => STATES_OF[one].includes(state)));
  const others = wanted.length > 0 ? predicate(rest) : everything ? null : unwalked(part, served, predicate);
  if (everything || (order.whole !== null && others !== null)) {
    walks.push(wholeWalk(part, others === null ? tests : [others, ...tests]));
    return done([], missing ?? (order.scattered ? 'order' : null));
  }

  // Rows that no index finds: all of them in a small table, a sample of a large one.
  const untimed = wanted.includes('published') && order.parts.published !== undefined ? publishedRows(part, false) : null;
  const scan = { ...walk(at, mixedKey(part)), tests: [...filtered, ...equal.unindexed] };
  if (small) {
    const found = [others, untimed].filter((one) => one !== null);
    if (found.length > 0) walks.push({ ...scan, where: [sql<boolean>`(${or(found)})`] });
    return done([], missing);
  }
  if (others === null) return done([], missing);
  if (wanted.length > 0) walks.push({ ...scan, tests: [others, ...scan.tests], tried: { on: 'sample', rows: SEARCH_ROWS } });
  const missed = rest.filter((state) => outbox.shape.states.some((rule) => rule.state === state));
  // A state that no rule names does not justify an index.
  const advised = missed.length > 0 || wanted.length > 0 ? 'order' : null;
  return done(wanted.length > 0 ? missed : [...missed, 'unmapped'], missing ?? advised);
}

/** The dead-letter table or the archive: in the order of an index if it has one, otherwise sorted. */
function otherWalks({ order, at, key, times, tests, equal }: ListPart): Walks {
  const column = order.by === 'key' ? uniqueKey(at.place) : (plainColumn(at.place, 'createdAt')?.name ?? null);
  const index = column === null ? null : fitWalk(at.place, column, [], false);
  const walks: Walk[] = equal.indexed.map((test) => ({ ...walk(at, key), where: [test, ...times, ...tests] }));
  if (!equal.enough) {
    const [where, untimed] = key === null ? [[], times] : [times, []];
    const tried = index === null ? ALL : searchRows(at);
    walks.push({ ...walk(at, key), where, tests: [...untimed, ...tests, ...equal.unindexed], index, tried });
  }
  return { walks, leftOut: [], missingIndex: null };
}

const walk = (at: PlaceSql, key: SortKey | null): Walk => ({ at, key, where: [], tests: [], index: null, tried: ALL });

function wholeWalk({ order, at, key, times }: ListPart, tests: Sql<boolean>[]): Walk {
  const own = { ...walk(at, key), index: order.whole, tried: searchRows(at, order.scattered ? SCATTERED_SEARCH_ROWS : SEARCH_ROWS) };
  return key === null ? { ...own, tests: [...times, ...tests] } : { ...own, where: times, tests };
}

function partWalk(part: ListPart, states: Part, predicate: Sql<boolean>, tests: Sql<boolean>[]): Walk {
  const { outbox, order, at, key, times } = part;
  const index = order.parts[states] ?? null;
  // Repeated apart from the states' conditions, so that the planner sees the column the index leads with.
  const common = commonTests(outbox.shape, STATES_OF[states]).map((test) => compileCondition(test, at.alias, outbox.scope));
  if (states === 'published' && order.by === 'happened') {
    const published = roleKey(at, 'publishedAt');
    const where = [...common, predicate, sql<boolean>`${published?.sql} is not null`, ...notPublishedBefore(part)];
    return { ...walk(at, published), where, tests: [...times, ...tests], index, tried: searchRows(at) };
  }
  const own = key === null ? null : index;
  return { ...walk(at, key), where: [...common, predicate, ...times], tests, index: own, tried: own === null ? ALL : searchRows(at) };
}

const searchRows = (at: PlaceSql, rows = SEARCH_ROWS): Tried => (isSmall(at.place) ? ALL : { on: 'first', rows });

/** Events created since `from` are published since then; one day allows for clocks and time zones. There is no day before 0001-01-01. */
function notPublishedBefore({ outbox, at, filter }: ListPart): Sql<boolean>[] {
  const published = at.role('publishedAt');
  if (filter.from === undefined || filter.from < '0001-01-02' || published === null) return [];
  const since = new Date(Date.parse(filter.from) - 86_400_000).toISOString();
  const from = outbox.database.engine.fragments.instantValue(since, published.description, outbox.parameters.timeZone);
  return [sql<boolean>`${published.sql} >= ${from}`];
}

function roleKey(at: PlaceSql, role: 'createdAt' | 'publishedAt'): SortKey | null {
  const bound = at.role(role);
  if (bound === null) return null;
  return { role, ...bound, iso: at.roleIso(role), nullable: role === 'createdAt' && bound.description.nullable };
}

/** The sort key for rows of any part: publishing for published rows if lists are ordered by it, otherwise creation. */
function mixedKey(part: ListPart): SortKey | null {
  const { at, key } = part;
  const published = publishedRows(part, true);
  const publishedAt = roleKey(at, 'publishedAt');
  if (published === null || key === null || publishedAt === null) return key;
  return {
    ...key,
    sql: sql`case when ${published} then ${publishedAt.sql} else ${key.sql} end`,
    iso: sql`case when ${published} then ${publishedAt.iso} else ${key.iso} end`,
  };
}

/** Published rows with a publish time (`timed`), or without; null if lists are not ordered by it, or no such row can exist. */
function publishedRows({ outbox, order, at }: ListPart, timed: boolean): Sql<boolean> | null {
  const { shape, scope } = outbox;
  const column = at.place.roles.publishedAt?.column.name;
  const isAlways = (test: Leaf): boolean => test.column === column && test.kind === 'isNull' && !test.isNull;
  if (order.by !== 'happened' || (!timed && commonTests(shape, STATES_OF.published).some(isAlways))) return null;
  const predicate = statePredicate(shape, STATES_OF.published, at.alias, scope);
  return predicate && sql`(${predicate} and ${at.role('publishedAt')?.sql} is ${sql.raw(timed ? 'not null' : 'null')})`;
}

/** In a list of all states, the rows that no walk covers; null if there can be none. */
function unwalked(part: ListPart, served: readonly Part[], predicate: OfStates): Sql<boolean> | null {
  const { outbox, order } = part;
  if (order.covered) return null;
  const published = publishedRows(part, true);
  const walked = served.filter((one) => published === null || one !== 'published').flatMap((one) => STATES_OF[one]);
  const covered = [predicate(walked), served.includes('published') ? published : null].filter((one) => one !== null);
  const { notTrue } = outbox.database.engine.fragments;
  return and(covered.map(notTrue));
}
