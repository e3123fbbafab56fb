/** What an observer is, and what ticks share: finding rows by an index or by their ids, and following them. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { LineCount } from '@/lib/outbox/companions';
import { fitTests, leadsWith } from '@/lib/outbox/indexes/index-fit';
import type { Outbox } from '@/lib/outbox/outbox';
import { placeSql, type PlaceSql } from '@/lib/outbox/rows/row';
import { typeOf } from '@/lib/outbox/scan/base-columns';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { hasTime, timeColumn } from '@/lib/outbox/scan/traits';
import { cellIn, type Additions, ALL_TYPES, OTHER_TYPES, seriesOfType, type Cell } from '@/lib/rollup/cell';
import type { Place } from '@/lib/shape/bound';
import { statePredicate } from '@/lib/shape/compile';
import { commonTests } from '@/lib/shape/reason';
import type { ValueRole } from '@/lib/shape/shape';
import type { CollectionMethod } from '@/lib/shared/figures/collection';
import type { LiveState, State } from '@/lib/shared/states';
import type { Acted } from '@/lib/store/acted';

/** A row as a tick found it; times are milliseconds since the epoch by the observed database's clock. */
export interface ObservedRow {
  id: string;
  type: string | null;
  /** `archived`: only the console's own archive has it. */
  state: State | 'unmapped';
  attempts: number;
  createdMs: number | null;
  publishedMs: number | null;
  /** When it died, or was last attempted before that. */
  diedMs: number | null;
}

/** Events published in a span (instants in microseconds, `to` exclusive) that were tried more than once: all of them. */
export interface Tried {
  from: number;
  to: number;
  rows: ObservedRow[];
}

/** An event that operators changed, by the record of that, and the count that this moved alone. */
export interface Act {
  record: string;
  id: string;
  counted: LineCount | null;
}

export interface ObserverTick {
  outbox: Outbox;
  /** The collector's read-only transaction, with its timeouts and `byIndex` set: every statement sees what is committed when it begins. */
  db: Db;
  /** When this tick began, by the observed database's clock: ISO 8601 UTC with microseconds. */
  at: string;
  /** The `memory` that this observer returned last time, perhaps after a round trip through JSON; null the first time. */
  memory: unknown;
  /** What the collector read since this observer's last tick; null if it reads no rows. */
  tried: Tried | null;
  /** When operators acted on the outbox; null if they never did. */
  acted: Acted | null;
}

export interface Observation {
  /** Added to the history, with the `how` of its cells. The collector itself enters watched minutes and depth. */
  additions: Additions;
  /** JSON, written together with the additions. The same object as given means that nothing has changed. */
  memory: unknown;
  /** Rows read, for the cost shown. */
  rows: number;
}

/** Finds out what rows do not record, by what it saw last time. Where additions are lost, the next tick gets the older memory too. */
export interface Observer {
  key: string;
  wants(outbox: Outbox, method: CollectionMethod): boolean;
  /** How often it ticks, in milliseconds; less often where reading is expensive. */
  everyMs: number;
  /** It reads `tried`, which is emptied after its tick. */
  takesTried?: boolean;
  /** Throws DatabaseFailure; the other parts of the tick are kept then. */
  tick(input: ObserverTick): Promise<Observation>;
}

/** After a longer time without a tick an observer starts over: failures of an hour are not failures of one minute. */
export const GAP_MS = 120_000;
/** Tables up to this many rows are scanned if no index finds what is wanted. */
export const SCANNED_ROWS = 200_000;
/** Above this many rows a table is scanned less often, as that takes tens of milliseconds. */
export const CHEAP_ROWS = 20_000;

/** A time as milliseconds since the epoch; NULL where the place has none, infinite ones as they are. */
export function epochMs({ database: { engine } }: Outbox, at: PlaceSql, role: ValueRole): Sql {
  const instant = hasTime(at.place, role) ? at.roleInstant(role) : null;
  return instant === null ? engine.fragments.nothing('float') : engine.fragments.epochMs(instant);
}

/** The counter as a float; NULL if there is none. */
export function attemptsOf({ database: { engine } }: Outbox, at: PlaceSql): Sql {
  const attempts = at.role('attempts');
  return attempts === null ? engine.fragments.nothing('float') : engine.fragments.float(attempts.sql);
}

/** null if it is NULL, infinite or not a number. */
export const finite = (value: number | null | undefined): number | null => (Number.isFinite(value) ? Number(value) : null);

/** An ObservedRow as the database returns it, with more columns. */
export type RowAnswer<More = object> = More &
  Pick<ObservedRow, 'id' | 'type' | 'state'> &
  Record<'created' | 'published', number | null> &
  Partial<Record<'attempts' | 'died', number | null>>;

export const rowColumns = (outbox: Outbox, at: PlaceSql): Sql =>
  sql`${at.id.text} as id, ${typeOf(outbox, at)} as type, ${at.state} as state, ${epochMs(outbox, at, 'createdAt')} as created,
    ${epochMs(outbox, at, 'publishedAt')} as published`;

export const toRow = ({ id, type, state, created, published, attempts, died }: RowAnswer): ObservedRow => ({
  id,
  type,
  state,
  attempts: finite(attempts) ?? 0,
  createdMs: finite(created),
  publishedMs: finite(published),
  diedMs: finite(died),
});

/** FROM and WHERE for rows in these states, by an index (`rows`: null without one). null if no row can be in these states. */
export function rowsByIndex(outbox: Outbox, at: PlaceSql, states: readonly LiveState[]): { rows: Sql | null } | null {
  const { main, shape, scope, database } = outbox;
  const predicate = statePredicate(shape, states, at.alias, scope);
  if (predicate === null) return null;
  const fit = fitTests(main, at.alias, timeColumn(main, 'createdAt'), commonTests(shape, states));
  return { rows: fit && sql`${database.engine.fragments.from(main.table, at.alias, fit.index)} where ${predicate}${orderBy(fit.order)}` };
}

export const orderBy = (order: Sql | null | undefined): Sql => (order == null ? sql`` : sql` order by ${order}`);

/** Whether an index finds a row by its id. */
function keyed(place: Place): boolean {
  const names = place.id.map((column) => column.name);
  if (names.length === 0 || !place.id.every((column) => ['uuid', 'integer', 'text'].includes(column.kind))) return false;
  return place.description.indexes.some((index) => leadsWith(index, names));
}

type Search = { most: number; isClosed: boolean; columns(outbox: Outbox, at: PlaceSql): Sql };

/** The first `most` of these rows, by key; `gone` are in no table. `isClosed`: all open ones were read, so those not searched are gone. */
export async function readByKey(db: Db, outbox: Outbox, missing: readonly string[], { most, isClosed, columns }: Search) {
  let left = missing.slice(0, most);
  const rows: ObservedRow[] = [];
  for (const place of [outbox.main, outbox.dead, outbox.archive]) {
    if (place === null || left.length === 0 || !place.description.privileges.select) continue;
    if (!keyed(place) && (await estimateRows(db, outbox, place)) > CHEAP_ROWS) {
      if (isClosed) continue;
      return { rows, gone: [] };
    }
    const at = placeSql(outbox, place);
    for (const lot of idLots(outbox, at, left)) {
      const answer = await sql<RowAnswer>`select ${columns(outbox, at)} from ${at.from} where ${lot}`.execute(db);
      rows.push(...answer.rows.map(toRow));
    }
    const found = new Set(rows.map(({ id }) => id));
    left = left.filter((id) => !found.has(id));
  }
  return { rows, gone: isClosed ? [...left, ...missing.slice(most)] : left };
}

const LOT_SIZES = [10, 50, 250] as const;
const LOT = 250;

/** Conditions for rows with these ids, served by the key where `keyed`; lots of a few sizes, so that few statements differ. */
function idLots({ database: { engine } }: Outbox, at: PlaceSql, ids: readonly string[]): Sql[] {
  const [id, ...others] = at.id.columns;
  if (id !== undefined && others.length === 0) {
    const fitting = ids.filter((one) => engine.idFits(one, id.description));
    const all = engine.fragments.isAnyOf(id.sql, fitting, id.description);
    if (all !== null) return [all];
  }
  const lots: Sql[] = [];
  for (let from = 0; from < ids.length; from += LOT) {
    const lot = ids.slice(from, from + LOT);
    const size = LOT_SIZES.find((one) => one >= lot.length) ?? LOT;
    lots.push(at.id.among([...lot, ...Array.from({ length: size - lot.length }, () => lot.at(-1) ?? '')]));
  }
  return lots;
}

/** About how many rows a place has; Infinity for a view, which is not counted. Reads the catalogue and no row; locks nothing. */
export const estimateRows = async (db: Db, outbox: Outbox, place: Place): Promise<number> =>
  place.description.kind === 'table' ? outbox.database.engine.estimateRows(db, place.table) : Infinity;

/** What the next tick needs of each row: from `found` for rows read (null: nothing), from `missed` for rows neither read nor gone. */
export function follow<Row extends Pick<ObservedRow, 'id' | 'state'>, Known extends [string, ...unknown[]]>(
  known: readonly Known[],
  { rows, gone }: { rows: readonly Row[]; gone: readonly string[] },
  on: { found(row: Row, before: Known | undefined): Known | null; missed(before: Known): Known; gone(before: Known): void },
): Known[] {
  const before = new Map(known.map((one) => [one[0], one]));
  const seen = new Set<string>();
  const next: Known[] = [];
  for (const row of rows) {
    // A row that is moved between two statements of a tick is found twice: the first time counts.
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    const was = before.get(row.id);
    const is = row.state === 'unmapped' ? (was ?? null) : on.found(row, was);
    if (is !== null) next.push(is);
  }
  const left = new Set(gone);
  for (const one of known) {
    if (seen.has(one[0])) continue;
    if (left.has(one[0])) on.gone(one);
    else next.push(on.missed(one));
  }
  return next;
}

/** Applies `change` to the minute's cells of one type and of all types. */
export function tally(additions: Additions, atMs: number, type: string | null, change: (cell: Cell) => void): void {
  const minute = Math.floor(atMs / 60_000);
  change(cellIn(additions, minute, ALL_TYPES));
  change(cellIn(additions, minute, type === null ? OTHER_TYPES : seriesOfType(type)));
}
