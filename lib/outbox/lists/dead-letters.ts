import { type RawBuilder, sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { CAUSE_CHARACTERS, isSameCause } from '@/lib/shared/lists/cause';
import type { DeadEvent } from '@/lib/shared/dead-letter-groups';
import type { EventFilter } from '@/lib/shared/model';
import { deadSinceRole, isSmall, livePlaces, type Outbox } from '../outbox';
import { amountColumns, eventColumns, type EventRow, LIST_ERROR_CHARACTERS, placeSql, type PlaceSql } from '../rows/row';
import { fingerprintOf, isFingerprint } from './causes';
import { type Columns, type ListStart, type Page, stretches, type ListRow, type Look, positionedRows, wayOf } from './sql';
import { placesFor } from './filters';
import { type List, unlimited, listOf } from './walks';

/** The newest dead events read to find their causes. Beyond this, counts cover only the rows read. */
export const DEAD_SCANNED_MAX = 1_000;

/** Amounts are read from payloads of up to this size: from larger ones, a thousand of them would take too long. */
const AMOUNT_BYTES = 16_384;

/** A dead event with what its cause needs, and its position in the list. */
export interface DeadRow extends DeadEvent, Pick<ListRow, 'place' | 'position'>, Partial<Pick<ListRow, 'position_at'>> {
  exact?: string;
}

/** The newest dead events with their amounts, errors cut as in lists; [] if the table cannot have any. */
export function newestDead(outbox: Outbox, versions: boolean): Promise<DeadRow[]> {
  const { walks } = listOf(outbox, { state: ['dead'] });
  return deadRows(outbox, { walks, order: 'newest', cursor: null }, (at) => countedColumns(outbox, at, LIST_ERROR_CHARACTERS, versions));
}

/** States whose events have a cause. */
export type CauseState = 'dead' | 'retrying';

export interface CauseWalk {
  /** In the order of lists, and whether these are all, not those among some rows. */
  list: List;
  whole: boolean;
  /** Any part of the list is read for what that part costs: no row is sorted. */
  served: boolean;
  /** One after the other they have every event, each by an index; null where there is none for some. */
  parts: List[] | null;
}

/** How the events of a state are gone through; null if the table cannot have any. */
export function causeWalk(outbox: Outbox, state: CauseState): CauseWalk | null {
  const filter = { state: [state] };
  const list = listOf(outbox, filter);
  if (list.walks.length === 0) return null;
  const isServed = ({ walks }: List): boolean =>
    walks.every(({ at, index, tests }) => isSmall(at.place) || (index !== null && tests.length === 0));
  const whole = unlimited(list.walks).every(({ tried }) => tried.on === 'all');
  if (isServed(list)) return { list, whole, served: true, parts: [list] };
  // Whoever only counts is free to take another order than lists have, in each table its own.
  const parts = placesFor(outbox, filter).map((place) =>
    (['created', 'key'] as const)
      .map((by) => listOf(outbox, filter, undefined, [place], { ...list.order, by, ...(by === 'created' && { whole: null }) }))
      .find(isServed),
  );
  return { list, whole, served: false, parts: parts.every((part) => part !== undefined) ? parts : null };
}

/** The next `limit` of these events behind one of them, newest first, with their amounts and as much of their errors as decides the cause. */
export async function causeRows(outbox: Outbox, list: List, after: DeadRow | null, limit: number, statementMs: number): Promise<DeadRow[]> {
  const { walks, order } = list;
  const cursor = after && ({ order: 'newest', by: order.by, direction: 'next', key: after.position, id: after.id } as const);
  const columns = (at: PlaceSql) => countedColumns(outbox, at, CAUSE_CHARACTERS, false, true);
  const rows = await deadRows(outbox, { walks, order: 'newest', cursor }, columns, limit, statementMs);
  return outbox.database.engine.features.exactScalars ? rows : withExactAmounts(outbox, rows);
}

const IDS_AT_ONCE = 1_000;

/** Read again where it may have been `true` or `false`; of an event that has gone meanwhile it is not known. */
async function withExactAmounts(outbox: Outbox, rows: DeadRow[]): Promise<DeadRow[]> {
  const isLoose = ({ amount, currency }: DeadRow): boolean => [amount, currency].some((text) => text === '0' || text === '1');
  const keyOf = ({ place, id }: DeadRow): string => `${place} ${id}`;
  const ids = rows.filter(isLoose).map(({ id }) => id);
  const exact = new Map<string, DeadRow>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE)
    for (const row of await sampleRows(outbox, ids.slice(at, at + IDS_AT_ONCE))) exact.set(keyOf(row), row);
  return rows.map((row) => {
    if (!isLoose(row)) return row;
    const { amount = null, currency = null } = exact.get(keyOf(row)) ?? {};
    return { ...row, amount, currency };
  });
}

function deadRows(outbox: Outbox, start: ListStart, columns: Columns, most = DEAD_SCANNED_MAX, statementMs?: number): Promise<DeadRow[]> {
  const walks = unlimited(start.walks);
  const { direction } = wayOf(start);
  const read = async (db: Db): Promise<DeadRow[]> => {
    await outbox.database.engine.byIndex(db);
    const rows: DeadRow[] = [];
    for (const { stretch, after } of stretches(start)) {
      const limit = most - rows.length;
      if (limit === 0) break;
      const statement = positionedRows(outbox, walks, { stretch, direction, after, until: null, limit }, columns);
      if (statement !== null) rows.push(...(await sql<DeadRow>`${statement}`.execute(db)).rows);
    }
    return rows;
  };
  return outbox.database.read(read, statementMs === undefined ? undefined : { statementMs });
}

function countedColumns(outbox: Outbox, at: PlaceSql, characters: number, versions: boolean, loosely = false): RawBuilder<unknown> {
  const amounts = amountColumns(outbox, at, AMOUNT_BYTES, loosely);
  return sql`${causeColumns(at, versions, characters)}, ${at.roleIso(deadSinceRole(at.place))} as ${sql.id('diedAt')}, ${amounts}`;
}

function causeColumns(at: PlaceSql, versions: boolean, characters = LIST_ERROR_CHARACTERS): RawBuilder<unknown> {
  return sql`${at.id.text} as id, ${at.roleText('type')} as type, ${at.roleHead('error', characters)} as error, ${at.roleIso('createdAt')} as ${sql.id('createdAt')}${versions ? sql`, ${at.exact} as exact` : sql``}`;
}

/** Samples of causes by id, as they are now; those that are neither dead nor retrying any more are left out. At most 1,500 by key. */
export function sampleRows(outbox: Outbox, ids: readonly string[]): Promise<DeadRow[]> {
  return outbox.database.read(async (db) => {
    const found: DeadRow[] = [];
    for (const place of ids.length === 0 ? [] : livePlaces(outbox)) {
      const at = placeSql(outbox, place);
      const columns = sql`${sql.lit(place.key)} as place, ${at.state} as state, ${countedColumns(outbox, at, LIST_ERROR_CHARACTERS, true)}`;
      const { rows } = await sql<DeadRow & { state: string }>`select ${columns} from ${at.from} where ${at.id.among(ids)}`.execute(db);
      found.push(...rows.filter(({ state }) => /^(dead|retrying)(:|$)/.test(state)));
    }
    return found;
  });
}

/** Returns dead events with their errors as the reader may see them, in the same order. */
export type Seeing = (rows: DeadRow[]) => Promise<DeadRow[]>;

/** A page of one cause's dead events, matched by errors as the reader may see them, out of DEAD_SCANNED_MAX rows; the next follows. */
export async function causePage(
  outbox: Outbox,
  filter: EventFilter & { cause: string },
  start: ListStart,
  limit: number,
  see: Seeing | null,
): Promise<Page> {
  const rows = await deadRows(outbox, start, (at, keyAt) => sql`${causeColumns(at, see !== null)}, ${keyAt} as position_at`);
  // After the connection is released: `see` may need one of its own.
  const seen = see === null ? rows : await see(rows);
  const wanted = (row: DeadRow): boolean =>
    isFingerprint(filter.cause)
      ? (filter.type ?? [row.type]).includes(row.type) && fingerprintOf(row) === filter.cause
      : (filter.type ?? [row.type]).some((type) => isSameCause({ type, error: filter.cause }, row));
  const found = seen.filter(wanted);
  const last = rows.at(-1);
  const more = found.length > limit;
  // Rows found may no longer be dead and are then not shown; the next page still starts after all of them.
  const end = more ? found[limit - 1] : rows.length < DEAD_SCANNED_MAX ? undefined : last;
  const looked: Look = {
    rows: rows.length,
    end: end === undefined ? null : { key: end.position, id: end.id, at: end.position_at ?? null },
    backTo: last?.position_at ?? null,
  };
  const shown = await wholeRows(outbox, found.slice(0, limit));
  if (wayOf(start).backwards) shown.reverse();
  return { shown, more, looked };
}

/** These rows with all columns of a list, in the same order; those no longer dead are left out. */
async function wholeRows(outbox: Outbox, rows: DeadRow[]): Promise<ListRow[]> {
  if (rows.length === 0) return [];
  return outbox.database.read(async (db) => {
    // Both tables may have a dead event with the same id.
    const found = new Map<string, EventRow>();
    const keyOf = (place: string, id: string): string => `${place} ${id}`;
    for (const place of livePlaces(outbox)) {
      const ids = rows.filter((row) => row.place === place.key).map(({ id }) => id);
      if (ids.length === 0) continue;
      const at = placeSql(outbox, place);
      const read = await sql<EventRow>`select ${eventColumns(outbox, at)} from ${at.from} where ${at.id.among(ids)}`.execute(db);
      for (const row of read.rows) if (/^dead(:|$)/.test(row.state)) found.set(keyOf(place.key, row.id), row);
    }
    return rows.flatMap(({ id, place, position, position_at = null }) => {
      const row = found.get(keyOf(place, id));
      return row === undefined ? [] : [{ ...row, place, position, position_at }];
    });
  });
}
