/** What observers are, and what their ticks have in common: which rows can be found by what, rows by their ids, and following them. */
import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
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
import type { ColumnRole } from '@/lib/shape/shape';
import type { CollectionMethod } from '@/lib/shared/figures/collection';
import type { LiveState, State } from '@/lib/shared/states';

/** A row as a tick found it; times are milliseconds since the epoch by the observed database's clock. */
export interface ObservedRow {
  id: string;
  type: string | null;
  /** `archived`: only the console's own archive has it. */
  state: State | 'unmapped';
  attempts: number;
  createdMs: number | null;
  publishedMs: number | null;
  /** When it died, or was taken last before it did. */
  diedMs: number | null;
}

/** Events published in a span (instants in microseconds, `to` exclusive) that were tried more than once: all of them. */
export interface Tried {
  from: number;
  to: number;
  rows: ObservedRow[];
}

export interface ObserverTick {
  outbox: Outbox;
  /** The collector's read-only transaction, with its timeouts and `byIndex` set: every statement sees what is committed when it begins. */
  db: Db;
  /** When this tick began, by the observed database's clock: ISO 8601 UTC with microseconds. */
  at: string;
  /** What this observer answered as `memory` last time; null for the first time. It has been JSON in between. */
  memory: unknown;
  /** What the collector has read since this observer ticked last; null where it reads no rows. */
  tried: Tried | null;
}

export interface Observation {
  /** What is to be added to the history, with the `how` of its cells. Watched minutes and depth are the collector's. */
  additions: Additions;
  /** JSON: kept with the additions, or lost with them. The very object it was given means that nothing has changed. */
  memory: unknown;
  /** Rows read, for the cost shown. */
  rows: number;
}

/**
 * Learns by reading what rows do not tell: what it saw last time is compared with what it sees now. Additions and memory are written
 * together, up to a tick later; when that fails, the next tick gets the older memory.
 */
export interface Observer {
  /** Names its memory. */
  key: string;
  wants(outbox: Outbox, method: CollectionMethod): boolean;
  /** How often it ticks, in milliseconds; less often where reading is expensive. */
  everyMs: number;
  /** It goes on from `tried`, which is emptied when it has ticked. */
  takesTried?: boolean;
  /** Throws DatabaseFailure; the other parts of the tick are kept then. */
  tick(input: ObserverTick): Promise<Observation>;
}

/** After a longer time without a tick everything begins anew: failures of an hour are not failures of one minute. */
export const GAP_MS = 120_000;
/** Tables up to this many rows are read whole where no index finds what is wanted. */
export const SCANNED_ROWS = 200_000;
/** From this many on a whole reading is made less often: it costs tens of milliseconds then. */
export const CHEAP_ROWS = 20_000;

/** A time as milliseconds since the epoch; NULL where the place has none, infinite ones as they are. */
export function epochMs({ database: { engine } }: Outbox, at: PlaceSql, role: Exclude<ColumnRole, 'id'>): Sql {
  const instant = hasTime(at.place, role) ? at.roleInstant(role) : null;
  return instant === null ? engine.fragments.nothing('float') : engine.fragments.epochMs(instant);
}

/** The counter as a float, which holds every count there is. */
export function attemptsOf({ database: { engine } }: Outbox, at: PlaceSql): Sql {
  const attempts = at.role('attempts');
  return attempts === null ? engine.fragments.nothing('float') : engine.fragments.float(attempts.sql);
}

/** A number of the database's that is one: neither NULL nor infinite. */
export const finite = (value: number | null | undefined): number | null => (Number.isFinite(value) ? Number(value) : null);

/** An ObservedRow as the database answers it, with what is asked for besides. */
export type RowAnswer<More = object> = More &
  Pick<ObservedRow, 'id' | 'type' | 'state'> & {
    created: number | null;
    published: number | null;
    attempts?: number | null;
    died?: number | null;
  };

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

/** The rows in some states, as the rest of a SELECT, by an index that finds them: null without one. Not at all where no row is in one. */
export function rowsByIndex(outbox: Outbox, at: PlaceSql, states: readonly LiveState[]): { rows: Sql | null } | null {
  const { main, shape, scope, database } = outbox;
  const predicate = statePredicate(shape, states, at.alias, scope);
  if (predicate === null) return null;
  const fit = fitTests(main, at.alias, timeColumn(main, 'createdAt'), commonTests(shape, states));
  return {
    rows: fit && sql`${database.engine.fragments.from(main.table, at.alias, fit.index)} where ${predicate}${orderBy(fit.order)}`,
  };
}

export const orderBy = (order: Sql | null | undefined): Sql => (order == null ? sql`` : sql` order by ${order}`);

/** Whether an index finds a row by its id. */
function keyed(place: Place): boolean {
  const names = place.id.map((column) => column.name);
  if (names.length === 0 || !place.id.every((column) => ['uuid', 'integer', 'text'].includes(column.kind))) return false;
  return place.description.indexes.some((index) => leadsWith(index, names));
}

/**
 * Followed rows that were not among those read, by the key of each table: the first `most` of them. `gone` are in no table. `isClosed`:
 * what was not read is not open, so that rows which cannot be searched for are gone as well; otherwise they stay followed.
 */
export async function readByKey(
  db: Db,
  outbox: Outbox,
  missing: readonly string[],
  { most, isClosed, columns }: { most: number; isClosed: boolean; columns(outbox: Outbox, at: PlaceSql): Sql },
): Promise<{ rows: ObservedRow[]; gone: string[] }> {
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

/**
 * Rows with these ids, a lot of them at a time: served by the key where `keyed`, bounded by their number. The last lot is
 * filled up with its last id, so that the server meets the same few statements again and again.
 */
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

/** About how many rows a place has; Infinity for a view, whose rows are not counted. Reads the catalogue and no row; locks nothing. */
export async function estimateRows(db: Db, outbox: Outbox, place: Place): Promise<number> {
  return place.description.kind === 'table' ? outbox.database.engine.estimateRows(db, place.table) : Infinity;
}

/** What the next tick has to know of each row: `found` tells it of those read (null: nothing), `missed` of those not read nor gone. */
export function follow<Row extends Pick<ObservedRow, 'id' | 'state'>, Known extends [string, ...unknown[]]>(
  known: readonly Known[],
  { rows, gone }: { rows: readonly Row[]; gone: readonly string[] },
  on: { found(row: Row, before: Known | undefined): Known | null; missed(before: Known): Known; gone(before: Known): void },
): Known[] {
  const before = new Map(known.map((one) => [one[0], one]));
  const seen = new Set<string>();
  const next: Known[] = [];
  for (const row of rows) {
    // Moved between two statements of a tick, a row is found twice: what was read first is what the next tick goes on from.
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

/** Changes what a minute says of one event's type, and of all types together. */
export function tally(additions: Additions, atMs: number, type: string | null, change: (cell: Cell) => void): void {
  const minute = Math.floor(atMs / 60_000);
  change(cellIn(additions, minute, ALL_TYPES));
  change(cellIn(additions, minute, type === null ? OTHER_TYPES : seriesOfType(type)));
}
