import { type Kysely, sql, type RawBuilder } from 'kysely';

/** A connection to an observed database. Tables are found at run time, so there is no static schema. */
export type Db = Kysely<Record<string, never>>;

export interface TableName {
  schema: string | null;
  table: string;
}

export interface ColumnDescription {
  name: string;
  /** The type as the server prints it, e.g. `timestamp with time zone`, `character varying(64)`. */
  type: string;
  kind: 'text' | 'integer' | 'decimal' | 'boolean' | 'uuid' | 'json' | 'binary' | 'instant' | 'wall_clock' | 'other';
  nullable: boolean;
  /** Computed by the database: never written. */
  generated: boolean;
  /** Character set and collation of a text column, on engines where each column has its own (MySQL). */
  collation?: { charset: string; name: string };
  /** Values of an enum type; comparing with any other may fail. */
  labels?: string[];
  /** Base type of a domain. Values are compared as this type, because a cast to the domain fails where its check does. */
  over?: string;
  /** Encoding of an instant that the type does not show; set by the shape, never by the catalogue. */
  time?: TimeEncoding;
  /** What a column of bytes holds; set by the shape, never by the catalogue. */
  holds?: HeldInBytes;
}

export type HeldInBytes = 'text' | 'uuid';

/** `utc`: zone-less and UTC. `epoch_ms`, `epoch_s`: a number since 1970. `iso`: ISO 8601 text. */
export type TimeEncoding = 'utc' | 'epoch_ms' | 'epoch_s' | 'iso';
export type Direction = 'asc' | 'desc';

export interface IndexDescription {
  name: string;
  method: string;
  /** Leading columns, in order, up to the first expression or prefix. */
  columns: string[];
  unique: boolean;
  /** The predicate of a partial index as the server prints it. */
  predicate: string | null;
  /** Sort order of each of `columns`; ORDER BY must match it or its exact reverse. Empty if the index has no order (BRIN, GIN, hash). */
  sorted: { descending: boolean; nullsFirst: boolean }[];
  /** NULLs are where ORDER BY puts them by default; the engine has no NULLS FIRST or LAST. */
  nullsUnsaid?: true;
  /** Its first part where that is computed, by an index or a generated column: as the server prints it, without blanks, quotes and brackets. */
  expression?: string;
  /** The column after `columns` of which only a prefix is indexed. */
  beginning?: string;
}

export interface PartitionDescription {
  name: Required<TableName>;
  /** Its parent: the table itself or another partition. */
  of: Required<TableName>;
  /** Holds rows; false if it is partitioned itself. */
  leaf: boolean;
}

export interface TableDescription {
  /** As the catalogue spells it. */
  name: Required<TableName>;
  kind: 'table' | 'view' | 'other';
  columns: Map<string, ColumnDescription>;
  indexes: IndexDescription[];
  /** Key columns ('' for an expression) and partitions, deepest first; left out if there are none, or indexes need no care for them. */
  partitions?: { key: string[]; parts: PartitionDescription[] };
  /** Names in the schema that start like the table's: a new index must take none of them. Left out if index names are per table. */
  namesakes?: string[];
  /** Approximate rows when it was described, partitions included; null if unknown, as for a view. */
  estimatedRows: number | null;
  notifies: string[];
  privileges: { select: boolean; insert: boolean; delete: boolean; updateColumns: Set<string> };
}

/** The table's quoted name; schema and table are quoted separately, as a name may contain a dot. */
export const tableRef = ({ schema, table }: TableName): RawBuilder<unknown> => (schema === null ? sql.id(table) : sql.id(schema, table));

export interface TriggerRules {
  name: string;
  timing: 'before' | 'after' | 'instead';
  events: ('insert' | 'update' | 'delete')[];
  /** The function it calls; its own name if it has a body of its own (MySQL). */
  calls: string;
  language: string;
  /** Source text; empty for compiled code. */
  source: string;
  enabled: boolean;
}

export interface TableRules {
  /** null if this role may not see them. */
  triggers: TriggerRules[] | null;
  /** True if rules rewrite statements on the table into others. */
  rewritten: boolean;
  rowSecurity: boolean;
  /** False if the storage engine cannot roll back. */
  transactional: boolean;
  /** Digest of columns and their types; on PostgreSQL of triggers and rules too. */
  signature: string;
}

/** `usage`: of the schema. `select` is false also if no row-level security policy lets the role see any row. */
export type RoleRights = TableDescription['privileges'] & { usage: boolean };
