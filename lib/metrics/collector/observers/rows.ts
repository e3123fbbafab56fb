/** What the looks of observers have in common: which rows can be found by what, and rows by their ids. */
import { sql } from 'kysely';
import type { ColumnDescription } from '@/lib/database/engine';
import { leadsWith } from '@/lib/outbox/index-fit';
import type { Outbox, Place } from '@/lib/outbox/outbox';
import type { PlaceSql } from '@/lib/outbox/row';
import type { ColumnRole } from '@/lib/outbox/shape';
import { nullNumber, type Sql } from '../../spelling';
import { hasTime } from '../../traits';

/** Tables up to this many rows are read whole where no index finds what is looked for. */
export const SCANNED_ROWS = 200_000;
/** From this many on a whole reading is made this often only, in milliseconds: it costs tens of milliseconds then. */
export const CHEAP_ROWS = 20_000;

/** A time as milliseconds since the epoch; NULL where the place has none, infinite ones as they are. */
export function epochMs(at: PlaceSql, role: Exclude<ColumnRole, 'id'>): Sql {
  const instant = hasTime(at.place, role) ? at.roleInstant(role) : null;
  return instant === null ? sql`cast(null as float8)` : sql`(date_part('epoch', ${instant}) * 1000)`;
}

/** The counter as a float, which holds every count there is. */
export function attemptsOf(at: PlaceSql): Sql {
  const attempts = at.role('attempts');
  return attempts === null ? nullNumber : sql`(${attempts.sql})::float8`;
}

/** The type, cut to what a series is named after. */
export const typeOf = (at: PlaceSql): Sql => sql`left(${at.roleText('type')}, 200)`;

/** A number of the database's that is one: neither NULL nor infinite. */
export const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

/** Whether an index finds a row by its id. */
export function keyed(place: Place): boolean {
  const names = place.id.map((column) => column.name);
  if (names.length === 0 || !place.id.every((column) => ['uuid', 'integer', 'text'].includes(column.kind))) return false;
  return place.description.indexes.some((index) => leadsWith(index, names));
}

/** Rows with one of these ids: served by the key where `keyed`, bounded by their number. */
export function idsAmong(outbox: Outbox, at: PlaceSql, ids: readonly string[]): Sql {
  const [id, ...others] = at.id.columns;
  const { engine } = outbox.database;
  if (id === undefined || others.length > 0) return at.id.among(ids);
  const fitting = ids.filter((one) => engine.idFits(one, id.description));
  return sql`${id.sql} = any(${engine.fragments.typed(arrayLiteral(fitting), arrayOf(id.description))})`;
}

/** A type without its length, which a cast would cut an id to: `character` alone means one character. */
function arrayOf(description: ColumnDescription): ColumnDescription {
  const bare = description.type.replace(/\(\d+(,\d+)?\)/, '');
  return { ...description, type: `${bare === 'character' ? 'bpchar' : bare}[]` };
}

const arrayLiteral = (values: string[]): string => `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
