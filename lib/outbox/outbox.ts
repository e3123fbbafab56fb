import type { Database } from '@/lib/database/database';
import type { ColumnDescription, TableDescription, TableName } from '@/lib/database/engine';
import type { Capabilities, OutboxInfo } from '@/lib/shared/model';
import type { ReadOnlyReason } from '@/lib/shared/read-only';
import type { TableRules } from '@/lib/database/table-rules';
import type { TableRef } from './language/names';
import type { ProofState } from './proven';
import type { ColumnRole, Shape } from './shape';

/** A table of an outbox and what its columns mean. */
export interface Place {
  key: 'main' | 'dead' | 'archive';
  table: Required<TableName>;
  description: TableDescription;
  /** Roles this table has, with the column behind each and the path inside it. */
  roles: Partial<Record<ColumnRole, { column: ColumnDescription; path: string[] }>>;
}

export interface Parameters {
  maxAttempts: number | null;
  stuckAfterSeconds: number;
  timeZone: string;
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
  parameters: { maxAttempts?: number; stuckAfterSeconds?: number; timeZone?: string; deadTable?: TableRef; channel?: string };
  links: { label: string; url: string }[];
  amount: { value: string; currency?: string } | null;
  mask: string[];
}

/** A configured outbox bound to the table it was found in. Immutable; binding again gives a new one. */
export interface Outbox {
  id: string;
  settings: OutboxSettings;
  database: Database;
  shape: Shape;
  parameters: Parameters;
  main: Place;
  dead: Place | null;
  /** The console's own table for archived events; null until installed. */
  archive: Place | null;
  amount: AmountSource | null;
  /** Overrides the channel of the shape's NOTIFY: the configuration's, or the one the table's own trigger uses. */
  channel: string | null;
  /** What its tables do to rows written into them; null on an engine that does not say. */
  rules: { main: TableRules; dead: TableRules | null } | null;
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
