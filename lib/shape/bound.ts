/** The parts of a shape after its names are resolved in the catalogue. */
import type { ColumnDescription, TableDescription, TableName } from '@/lib/database/description';
import type { Condition } from './schema/condition';
import type { TableRef } from './schema/names';
import type { Shape, ValueRole } from './shape';

export interface ShapeSettings {
  shape: Shape;
  /** Written for this table, not built in. */
  inline: boolean;
  parameters: Partial<Omit<Parameters, 'maxAttempts'>> & { maxAttempts?: number; deadTable?: TableRef; channel?: string };
}

export interface Place {
  key: 'main' | 'dead' | 'archive';
  table: Required<TableName>;
  /** As in the catalogue, plus the time encodings of the shape. */
  description: TableDescription;
  /** The columns that identify a row, in the order of the shape. */
  id: ColumnDescription[];
  roles: Partial<Record<ValueRole, BoundRole>>;
}

/** Where the value of a role is found; all names as in the catalogue. */
export interface BoundRole {
  /** Its column; a placeholder for a constant. */
  column: ColumnDescription;
  /** Steps into JSON; [] for the whole value. */
  path: string[];
  last: boolean;
  join: BoundCompanion | null;
  /** The companion's column whose largest value selects the row; null if there is only one row. */
  latest: string | null;
  /** Seconds to subtract from the column's time. */
  minusSeconds: number;
  when: Condition | null;
  constant: string | null;
}

/** The column of a role, if the value is the column itself, so that its index serves; null for a computed value. */
export function plainColumn(place: Place, role: ValueRole): ColumnDescription | null {
  const bound = place.roles[role];
  return bound === undefined ? null : ownColumn(bound);
}

export function ownColumn(bound: BoundRole): ColumnDescription | null {
  if (bound.path.length > 0 || bound.last || bound.join !== null) return null;
  return bound.minusSeconds === 0 && bound.when === null && bound.constant === null ? bound.column : null;
}

/** Whether a column holds instants: by its type, or because the shape says how it encodes them. */
export const isTime = ({ kind, time }: ColumnDescription): boolean =>
  kind === 'instant' || kind === 'wall_clock' || (time !== undefined && time !== 'utc');

export interface BoundCompanion {
  name: string;
  description: TableDescription;
  /** Its column → the column of the outbox table it equals. */
  on: Record<string, string>;
}

/** The position of each reader, for tables whose rows are never updated. */
export interface BoundCursor {
  companion: BoundCompanion;
  group: string;
  /** The group whose progress counts; null for all groups. */
  only: string | null;
  position: string[];
  passed: string[];
  taken: string[] | undefined;
}

export interface Parameters {
  maxAttempts: number | null;
  stuckAfterSeconds: number;
  timeZone: string;
  extra: Record<string, number | string>;
}

/** null where neither the configuration nor the shape sets it. */
export const parameterNamed = ({ maxAttempts, stuckAfterSeconds, extra }: Parameters, name: string): number | string | null =>
  name === 'maxAttempts' ? maxAttempts : name === 'stuckAfter' ? stuckAfterSeconds : (extra[name] ?? null);

export const placeColumns = (place: Place): string[] =>
  [...place.description.columns.values()].filter((column) => !column.generated).map((column) => column.name);
