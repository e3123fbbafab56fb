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
  /** How its texts are compared, where columns have that each for themselves; with the character set's name before it. */
  collation?: { charset: string; name: string };
  /** The values an enumeration has; comparing with another fails. */
  labels?: string[];
  /** The type a domain stands for: values of the one are compared, and a value of the other may be refused. */
  over?: string;
  /** How the column spells an instant where its type does not tell: said by the shape, never by the catalogue. */
  time?: TimeEncoding;
}

/** `utc`: zone-less and UTC. `epoch_ms`, `epoch_s`: a number since 1970. `iso`: ISO 8601 text. */
export type TimeEncoding = 'utc' | 'epoch_ms' | 'epoch_s' | 'iso';

export type Direction = 'asc' | 'desc';

export interface IndexDescription {
  name: string;
  method: string;
  /** Leading columns, in order; expressions end the list. */
  columns: string[];
  unique: boolean;
  /** The predicate of a partial index as the server prints it. */
  predicate: string | null;
  /** How each of `columns` is sorted: ORDER BY has to say the same, or its exact reverse. Empty without an order (BRIN, GIN, hash). */
  sorted: { descending: boolean; nullsFirst: boolean }[];
  /** NULLs lie where ORDER BY has them by itself, and the engine has no words to say so. */
  nullsUnsaid?: true;
  /** The column after `columns` of whose values it holds no more than the beginning. */
  beginning?: string;
}

export interface PartitionDescription {
  name: Required<TableName>;
  /** What it is a part of: the table itself, or another part. */
  of: Required<TableName>;
  /** Holds rows; false where it is partitioned itself. */
  leaf: boolean;
}

export interface TableDescription {
  /** The catalogue's own spelling. */
  name: Required<TableName>;
  kind: 'table' | 'view' | 'other';
  columns: Map<string, ColumnDescription>;
  indexes: IndexDescription[];
  /** Parts, the deepest first, and the columns that tell them apart ('' for an expression); left out where an index of the whole table needs no word of them. */
  partitions?: { key: string[]; parts: PartitionDescription[] };
  /** Names in the table's schema that begin as the table's does: an index may have none of them. Left out where only its own indexes' count. */
  namesakes?: string[];
  /** About how many rows, by the pages there were when it was described, partitions included; null where nobody can tell: a view. */
  estimatedRows: number | null;
  notifies: string[];
  privileges: { select: boolean; insert: boolean; delete: boolean; updateColumns: Set<string> };
}

/** A table as SQL names it, its parts quoted one by one: a name may hold a dot. */
export function tableRef({ schema, table }: TableName): RawBuilder<unknown> {
  return schema === null ? sql.id(table) : sql.id(schema, table);
}

export interface TriggerRules {
  name: string;
  timing: 'before' | 'after' | 'instead';
  events: ('insert' | 'update' | 'delete')[];
  /** The function it runs; the trigger itself where it has a body of its own. */
  calls: string;
  language: string;
  /** What it does, as text; empty for compiled code. */
  source: string;
  enabled: boolean;
}

export interface TableRules {
  /** null where this role may not see them. */
  triggers: TriggerRules[] | null;
  /** True where statements on the table are rewritten into others. */
  rewritten: boolean;
  /** True where policies decide which rows a role sees. */
  rowSecurity: boolean;
  /** False where what was written cannot be taken back. */
  transactional: boolean;
  /** Equal as long as columns, their types and the triggers are what they were. */
  signature: string;
}

export interface RoleRights {
  usage: boolean;
  /** False also where row-level security lets the role see no row at all. */
  select: boolean;
  insert: boolean;
  delete: boolean;
  updateColumns: Set<string>;
}
