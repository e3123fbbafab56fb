/** What the ticks of observers have in common: which rows can be found by what, and rows by their ids. */
import { leadsWith } from '@/lib/outbox/indexes/index-fit';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import type { ColumnRole } from '@/lib/shape/shape';
import type { Sql } from '@/lib/outbox/scan/sql-terms';
import { hasTime } from '@/lib/outbox/scan/traits';
import type { Db } from '@/lib/database/description';
import { cellIn, type Additions, ALL_TYPES, OTHER_TYPES, seriesOfType, type Cell } from '@/lib/rollup/cell';

/** Tables up to this many rows are read whole where no index finds what is looked for. */
export const SCANNED_ROWS = 200_000;
/** From this many on a whole reading is made this often only, in milliseconds: it costs tens of milliseconds then. */
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
export const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

/** Whether an index finds a row by its id. */
export function keyed(place: Place): boolean {
  const names = place.id.map((column) => column.name);
  if (names.length === 0 || !place.id.every((column) => ['uuid', 'integer', 'text'].includes(column.kind))) return false;
  return place.description.indexes.some((index) => leadsWith(index, names));
}

/**
 * Rows with these ids, a lot of them at a time: served by the key where `keyed`, bounded by their number. The last lot is
 * filled up with its last id, so that the server meets the same few statements again and again.
 */
export function idLots({ database: { engine } }: Outbox, at: PlaceSql, ids: readonly string[]): Sql[] {
  const [id, ...others] = at.id.columns;
  if (ids.length === 0) return [];
  if (id !== undefined && others.length === 0) {
    const all = engine.fragments.isAnyOf(
      id.sql,
      ids.filter((one) => engine.idFits(one, id.description)),
      id.description,
    );
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

const LOT_SIZES = [10, 50, 250] as const;
const LOT = 250;

/** About how many rows a place has; Infinity for a view, whose rows nobody counts. Reads the catalogue and no row; locks nothing. */
export async function estimateRows(db: Db, outbox: Outbox, place: Place): Promise<number> {
  return place.description.kind === 'table' ? outbox.database.engine.estimateRows(db, place.table) : Infinity;
}

/** Changes what a minute says of one event's type, and of all types together. */
export function tally(additions: Additions, atMs: number, type: string | null, change: (cell: Cell) => void): void {
  const minute = Math.floor(atMs / 60_000);
  change(cellIn(additions, minute, ALL_TYPES));
  change(cellIn(additions, minute, type === null ? OTHER_TYPES : seriesOfType(type)));
}
