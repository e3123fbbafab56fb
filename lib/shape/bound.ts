/** The parts of a shape once its names have been found in the catalogue. */
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
  /** As the catalogue has it, with how columns encode times, by the shape. */
  description: TableDescription;
  /** The columns that name one row, in the order of the shape. */
  id: ColumnDescription[];
  roles: Partial<Record<ValueRole, BoundRole>>;
}

/** Where the value of a role is found, every name as the catalogue has it. */
export interface BoundRole {
  /** The column behind it; of a constant, a description of nothing. */
  column: ColumnDescription;
  /** Steps into JSON; [] for the whole value. */
  path: string[];
  last: boolean;
  join: BoundCompanion | null;
  /** The companion's column whose largest value is the row that is meant; null where there is one row. */
  latest: string | null;
  /** So many seconds before the column's time; 0 for the time itself. */
  minusSeconds: number;
  when: Condition | null;
  constant: string | null;
}

/** The column of a role whose value is the column's own, so that its index serves; null for anything worked out. */
export function plainColumn(place: Place, role: ValueRole): ColumnDescription | null {
  const bound = place.roles[role];
  if (bound === undefined || bound.path.length > 0 || bound.last || bound.join !== null) return null;
  return bound.minusSeconds === 0 && bound.when === null && bound.constant === null ? bound.column : null;
}

/** Whether a column holds instants: by its type, or because the shape says how it encodes them. */
export function isTime({ kind, time }: ColumnDescription): boolean {
  return kind === 'instant' || kind === 'wall_clock' || (time !== undefined && time !== 'utc');
}

export interface BoundCompanion {
  name: string;
  description: TableDescription;
  /** Its column: the column of the outbox table that it equals. */
  on: Record<string, string>;
}

/** How far each reader has come, for tables whose rows are never written again. */
export interface BoundCursor {
  companion: BoundCompanion;
  group: string;
  /** The group whose progress counts; null: that of all of them. */
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

/** Columns of a place that hold data of their own. */
export function placeColumns(place: Place): string[] {
  return [...place.description.columns.values()].filter((column) => !column.generated).map((column) => column.name);
}
