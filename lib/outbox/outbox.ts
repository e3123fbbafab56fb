import type { Database } from '@/lib/database/database';
import type { ColumnDescription, TableDescription, TableName } from '@/lib/database/engine';
import type { Capabilities, OutboxInfo } from '@/lib/shared/model';
import type { ReadOnlyReason } from '@/lib/shared/changes/read-only';
import type { TableRules } from '@/lib/database/table-rules';
import type { RecordsSight } from './companions';
import type { Scope } from './conditions';
import type { Condition } from './language/condition';
import type { TableRef } from './language/names';
import type { ProofState } from './proven';
import type { ColumnRole, Shape } from './shape';
import type { SlotSight } from './slots';

/** A table of an outbox and what its columns mean. */
export interface Place {
  key: 'main' | 'dead' | 'archive';
  table: Required<TableName>;
  /** As the catalogue has it, with what the shape says of how columns spell times. */
  description: TableDescription;
  /** The columns that name one row, in the order of the shape. */
  id: ColumnDescription[];
  /** The other roles this table has, and where each is found. */
  roles: Partial<Record<Exclude<ColumnRole, 'id'>, BoundRole>>;
}

/** Where the value of a role is found, every name as the catalogue has it. */
export interface BoundRole {
  /** The column behind it; of a constant, a description of nothing. */
  column: ColumnDescription;
  /** Steps into JSON; [] for the whole value. */
  path: string[];
  /** Inside the last element of a list. */
  last: boolean;
  /** The companion that holds the column. */
  join: BoundCompanion | null;
  /** The companion's column whose largest value is the row that is meant; null where there is one row. */
  latest: string | null;
  /** So many seconds before the column's time; 0 for the time itself. */
  minusSeconds: number;
  /** For the rows that pass; null: for all. */
  when: Condition | null;
  /** The same for every row. */
  constant: string | null;
}

/** The column of a role whose value is the column's own, so that its index serves; null for anything worked out. */
export function plainColumn(place: Place, role: Exclude<ColumnRole, 'id'>): ColumnDescription | null {
  const bound = place.roles[role];
  if (bound === undefined || bound.path.length > 0 || bound.last || bound.join !== null) return null;
  return bound.minusSeconds === 0 && bound.when === null && bound.constant === null ? bound.column : null;
}

/** Whether a column holds instants: by its type, or because the shape says how it spells them. */
export function isTime({ kind, time }: ColumnDescription): boolean {
  return kind === 'instant' || kind === 'wall_clock' || (time !== undefined && time !== 'utc');
}

/** A table beside the outbox that was found. */
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
  /** Those of the shape alone, by name. */
  extra: Record<string, number | string>;
}

/** Where an amount is found inside the payload, as JSON paths. */
export interface AmountSource {
  value: string[];
  currency: string[] | null;
}

/** What the configuration says about an outbox, as far as the outbox room needs it. */
export interface OutboxSettings {
  id: string;
  name: string;
  /** As written; the catalogue has the last word on its spelling. */
  table: TableRef;
  shape: Shape;
  inline: boolean;
  parameters: {
    maxAttempts?: number;
    stuckAfterSeconds?: number;
    timeZone?: string;
    deadTable?: TableRef;
    channel?: string;
    extra?: Record<string, number | string>;
  };
  links: { label: string; url: string }[];
  amount: { value: string; currency?: string } | null;
  mask: string[];
}

/** A configured outbox bound to the table it was found in. Immutable; binding again gives a new one. */
export interface Outbox {
  id: string;
  settings: OutboxSettings;
  database: Database;
  /** Every name as the catalogue has it, every parameter put in, and without what this table lacks. */
  shape: Shape;
  parameters: Parameters;
  /** Parameters that neither the database nor the configuration holds: the library's default is taken. */
  assumed: string[];
  main: Place;
  dead: Place | null;
  /** The console's own table for archived events; null until installed. */
  archive: Place | null;
  /** What its reader can do with the console's records of changes to it. */
  records: RecordsSight;
  /** Outboxes configured in its database on other tables. */
  elsewhere: readonly string[];
  companions: ReadonlyMap<string, BoundCompanion>;
  /** What conditions on rows of the outbox table are compiled against. */
  scope: Scope;
  amount: AmountSource | null;
  /** Overrides the channel of the shape's NOTIFY: the configuration's, or the one the table's own trigger uses. */
  channel: string | null;
  /** What its tables do to rows written into them. */
  rules: { main: TableRules; dead: TableRules | null };
  /** How the relay of a table that tells nothing is seen; null where its rows tell. */
  slots: SlotSight | null;
  /** Whether the mapping was shown to change the table as it says. */
  proof: ProofState;
  capabilities: Capabilities;
  writable: boolean;
  whyReadOnly: ReadOnlyReason | null;
}

export function outboxInfo(outbox: Outbox): OutboxInfo {
  const { schema, table } = outbox.main.table;
  return {
    id: outbox.id,
    name: outbox.settings.name,
    database: outbox.database.id,
    engine: outbox.database.engine.key,
    shape: outbox.settings.inline ? 'inline' : outbox.shape.key,
    table: schema === outbox.database.engine.defaultSchema ? table : `${schema}.${table}`,
    capabilities: outbox.capabilities,
    writable: outbox.writable,
    whyReadOnly: outbox.whyReadOnly,
  };
}

/** What people call a table: `schema.table`, or its name alone where the database has no schemas. */
export function tableLabel({ schema, table }: TableName): string {
  return schema === null ? table : `${schema}.${table}`;
}

/** Columns of a place that hold data of their own. */
export function placeColumns(place: Place): string[] {
  return [...place.description.columns.values()].filter((column) => !column.generated).map((column) => column.name);
}

/** Places whose rows are events of the outbox now: the table and its dead-letter table. */
export function livePlaces(outbox: Outbox): Place[] {
  return outbox.dead === null ? [outbox.main] : [outbox.main, outbox.dead];
}

/** Places up to this many rows may be read whole for one page, where no index helps. */
const SMALL_ROWS = 200_000;

/** True where reading every row is still quick; where nobody can tell how many there are, only trying can. */
export function isSmall(place: Place): boolean {
  const rows = place.description.estimatedRows;
  return rows === null || rows <= SMALL_ROWS;
}
