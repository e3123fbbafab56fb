/**
 * The seam between the console and a kind of database. Everything above asks the engine (flags, fragments); nobody
 * asks which engine it is. The second engine adds a folder beside `postgres/` and a line in `engines.ts`.
 */
import type { Dialect, Kysely, RawBuilder } from 'kysely';
import type { EngineKey } from '@/lib/shared/model';
import type { Lane, Source } from './connections/share';
import type { DatabaseFailure } from './failure';

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

export interface IndexDescription {
  name: string;
  /** Access method: `btree`, `brin`, … */
  method: string;
  /** Leading columns, in order; expressions end the list. */
  columns: string[];
  unique: boolean;
  /** The predicate of a partial index as the server prints it. */
  predicate: string | null;
  /**
   * How each of `columns` is sorted: an ORDER BY the index should serve has to say the same, or its exact reverse.
   * Empty for an index without an order (BRIN, GIN, hash).
   */
  sorted: { descending: boolean; nullsFirst: boolean }[];
  /** NULLs lie where ORDER BY has them by itself, and the engine has no words to say so. */
  nullsUnsaid?: true;
  /** The column after `columns` of whose values it holds no more than the beginning. */
  beginning?: string;
}

/** A part of a partitioned table. */
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
  /**
   * About how many rows there were when it was described, partitions included: rows per page when they were last counted,
   * times the pages there were. null where nobody can tell, a view for example.
   */
  estimatedRows: number | null;
  /** Channels that the table's own triggers notify, in the order found. */
  notifies: string[];
  privileges: { select: boolean; insert: boolean; delete: boolean; updateColumns: Set<string> };
}

export interface PoolOptions {
  url: string;
  /** Shown by the server beside each connection. */
  applicationName: string;
  /** Where its connections come from. */
  lane<C extends object>(source: Source<C>): Lane<C>;
  /** Longest time that opening a connection may take, in milliseconds. */
  connectTimeoutMs: number;
  /** The client gives a statement up after this and drops the connection, in milliseconds: above every server timeout. */
  clientTimeoutMs: number;
  /** Errors of idle connections, for the log. */
  onIdleError(error: Error): void;
  /** One statement run on each new connection, for databases whose sessions are ours alone. */
  prepare?: string;
}

/** Limits of one transaction, in milliseconds. */
export interface TransactionLimits {
  statementMs: number;
  lockMs: number;
  idleMs: number;
  /** Of one that only reads: it is a single statement, with which its beginning and end are sent or done without. */
  alone?: boolean;
}

/** How statements of one transaction are planned, beyond what `byIndex` says by itself. */
export interface Steering {
  /** Tables may be read whole. */
  scans?: boolean;
  /** An index may tell blocks, whose rows are then looked through. */
  blocks?: boolean;
  /** Rows are grouped by hashing, never by sorting them first. */
  hashes?: boolean;
  /** Sorts and groups of many rows stay in the server's memory: 32 MB of it. */
  memory?: boolean;
}

/** What a server tells of its transactions at one moment. */
export interface Transactions {
  /** By the server's clock: ISO 8601 UTC with microseconds. */
  at: string;
  /** Every transaction numbered below `oldest` has ended, and the next one gets the number `next`; null where nobody is told. */
  open: { oldest: bigint; next: bigint } | null;
}

/** How big a table is, about. */
export interface TableSize {
  rows: number;
  partitioned: boolean;
}

/** What the database itself has counted since it last began to. Attempted changes: rolled back ones are in them. */
export interface ChangeCounts {
  inserted: number;
  updated: number;
  deleted: number;
}

/** SQL fragments whose spelling differs between engines. Column arguments are already quoted references. */
export interface Fragments {
  /** ISO 8601 UTC text with microseconds; NULL for NULL and for times outside the calendar (infinity). */
  isoTime(column: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<string | null>;
  /** An instant comparable with `now()`, whatever the column's type. */
  instant(column: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  /** An ISO 8601 text as a value comparable with the column itself, so that its index serves. */
  instantValue(iso: string, description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  /** An instant, `now()` for example, as a value of the column's own spelling: to compare it with, and to write into it. */
  fromInstant(instant: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  /** So many seconds before an instant. */
  secondsBefore(instant: RawBuilder<unknown>, seconds: number): RawBuilder<unknown>;
  /** A boolean, a bit, 0 and 1 or their texts compared with true or false; NULL is neither. */
  isTrue(column: RawBuilder<unknown>, description: ColumnDescription, wanted: boolean): RawBuilder<boolean>;
  /** The last element of an array or of a JSON list, and what it is; NULL of anything else. */
  lastElement(column: RawBuilder<unknown>, description: ColumnDescription): { sql: RawBuilder<unknown>; description: ColumnDescription };
  /** A list of values of the column's type, for a function that takes one; each value as text. */
  list(values: readonly string[], description: ColumnDescription): RawBuilder<unknown>;
  /** With a description, bytes and bits have a text of their own too; it is what `typed` takes back. */
  asText(column: RawBuilder<unknown>, description?: ColumnDescription): RawBuilder<string | null>;
  /** A text of ours as a value of a select list. */
  textValue(value: string): RawBuilder<string>;
  /** Text as a value of the column's own type, so that its index serves. An order may be asked of it, equality not: see `isOneOf`. */
  typed(value: string, description: ColumnDescription): RawBuilder<unknown>;
  /** Exactly one of these values, given as text, whatever the collation thinks is the same; an index of the column serves. */
  isOneOf(column: RawBuilder<unknown>, values: string[], description: ColumnDescription): RawBuilder<boolean>;
  /** As `isOneOf` for thousands of values; null where a statement takes each as a parameter of its own. */
  isAnyOf(column: RawBuilder<unknown>, values: string[], description: ColumnDescription): RawBuilder<boolean> | null;
  /**
   * As `isOneOf` for what a shape or a mapping names: written as literals, so that a partial index is seen to serve.
   * Without a description the column is compared as what the values are. A value the column cannot hold matches nothing.
   */
  isLiteral(column: RawBuilder<unknown>, values: (string | number | boolean)[], description: ColumnDescription | null): RawBuilder<boolean>;
  /** `left` behind `right` in an order by several keys: all of them less, or greater (`<`, `>`, `<=`, `>=`). An index of the first serves. */
  beyond(left: RawBuilder<unknown>[], sign: '<' | '>' | '<=' | '>=', right: RawBuilder<unknown>[]): RawBuilder<boolean>;
  /** A sort key with its NULLs where an index read that way has them. */
  ordered(key: RawBuilder<unknown>, direction: 'ascending' | 'descending', nulls: 'first' | 'last'): RawBuilder<unknown>;
  /** A table under an alias, read by this index where one is named and the engine can be told. */
  from(table: TableName, alias: string, index?: string | null): RawBuilder<unknown>;
  /** The beginning of a DELETE of rows of one table: what follows is its WHERE. */
  deleteFrom(table: TableName, alias: string): RawBuilder<unknown>;
  /** The end of a SELECT that locks its rows. */
  forUpdate(alias: string, wait: 'skip locked' | 'wait'): RawBuilder<unknown>;
  /** The end of an INSERT: rows whose key is taken are left out. Empty where they fail instead, as `duplicate`. */
  unlessTaken(): RawBuilder<unknown>;
  /** The end of a subquery whose values are worked out once, and not again wherever they are used. */
  workedOut(): RawBuilder<unknown>;
  /**
   * The row's version as text of digits or 32 hexadecimal digits: its physical one where rows have that, otherwise a
   * digest of its columns, long ones by length and beginning.
   */
  rowVersion(alias: string, table: TableDescription, timeZone: string): RawBuilder<string>;
  /** Number of the transaction that last wrote the row, or tried to take it: locks and what was rolled back count. Null when the engine has none. */
  rowTouch(alias: string): { written: RawBuilder<string>; taken: RawBuilder<string> } | null;
  /** Every column of a row, its physical version included, for a subquery that hands whole rows on. */
  wholeRow(alias: string, table: TableDescription): RawBuilder<unknown>;
  /**
   * A digest of key, creation time and payload as text: what stays the same while a relay works on the row. Of a payload of
   * more than 64 kB its size alone, and its beginning where that is read without the rest: `description` then tells its type.
   */
  stableDigest(parts: RawBuilder<unknown>[], payload: RawBuilder<unknown> | null, description?: ColumnDescription): RawBuilder<string>;
  /** The text at a path of a JSON value, or of a text that holds one; NULL where it holds none. */
  jsonText(column: RawBuilder<unknown>, path: string[], description: ColumnDescription): RawBuilder<string | null>;
  /**
   * How large a value is in bytes, told without reading it: exactly where `tellsSize`, otherwise as it is stored, eight times
   * that where it is compressed.
   */
  sizeBytes(column: RawBuilder<unknown>, description: ColumnDescription): RawBuilder<number>;
  /** Whether values of this column tell their exact size without being read. */
  tellsSize(description: ColumnDescription): boolean;
  /** The first `characters` of the value as text; bytes as hex. */
  head(column: RawBuilder<unknown>, description: ColumnDescription, characters: number): RawBuilder<string | null>;
  /** The named columns of a row as one JSON object of texts. */
  rowAsJson(columns: { name: string; column: RawBuilder<unknown>; description?: ColumnDescription }[]): RawBuilder<string>;
  /** Case-insensitive substring test with wildcards taken literally. */
  contains(column: RawBuilder<unknown>, needle: string): RawBuilder<boolean>;
  distinctFrom(left: RawBuilder<unknown>, right: RawBuilder<unknown>): RawBuilder<boolean>;
  notTrue(condition: RawBuilder<boolean>): RawBuilder<boolean>;
  /** The instant, comparable with what `instant` gives. */
  now(): RawBuilder<unknown>;
  /** The instant as a value to be written into this column. */
  nowFor(description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  nowIso(): RawBuilder<string>;
  /** Milliseconds from `from` to `to` as a float. */
  millisecondsBetween(from: RawBuilder<unknown>, to: RawBuilder<unknown>): RawBuilder<number>;
  secondsAgo(seconds: number): RawBuilder<unknown>;
  /** NULL as a value of this kind, for a select list. */
  nothing(kind: 'instant' | 'text' | 'integer' | 'float'): RawBuilder<null>;
  /** An instant, as `instant` gives it, within the calendar: infinity, zero dates and years nobody meant become NULL. */
  sane(instant: RawBuilder<unknown>): RawBuilder<unknown>;
  /** An ISO 8601 text as an instant. */
  instantOf(iso: string): RawBuilder<unknown>;
  /** An instant as ISO 8601 UTC text with microseconds. */
  instantText(instant: RawBuilder<unknown>): RawBuilder<string | null>;
  /** An instant in milliseconds since the epoch, as a float. */
  epochMs(instant: RawBuilder<unknown>): RawBuilder<number | null>;
  /** Whole steps of `seconds` since the epoch that had begun at an instant. */
  epochSteps(instant: RawBuilder<unknown>, seconds: number): RawBuilder<number | null>;
  /** A number as a float of double precision. */
  float(value: RawBuilder<unknown>): RawBuilder<number | null>;
  /** A whole number of any type as one of eight bytes. */
  integer(value: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The same as one of four bytes. */
  shortInteger(value: RawBuilder<unknown>): RawBuilder<number | null>;
  /** The console's own text column is this text; an index of the column serves. */
  isText(column: RawBuilder<unknown>, text: RawBuilder<unknown>): RawBuilder<boolean>;
  /** A text that is compared, grouped and sorted by its bytes, whatever its column's collation thinks is the same. */
  bytewise(text: RawBuilder<unknown>): RawBuilder<string | null>;
  /** Whether the database keeps rows of these tables from this role, although it may read them. Reads the catalogue; locks nothing. */
  hidesRows(tables: readonly Required<TableName>[]): RawBuilder<boolean>;
}

/** What the console's own columns are made of. */
export interface CompanionColumns {
  /** A UUID as text. */
  id: ColumnDescription;
  /** Short texts that keys are made of. */
  name: ColumnDescription;
  text: ColumnDescription;
  json: ColumnDescription;
  number: ColumnDescription;
  /** An instant, to the microsecond. */
  time: ColumnDescription;
}

export interface EngineFeatures {
  /** INSERT, UPDATE and DELETE answer the rows they changed. */
  returning: boolean;
  /** A waiting process can be woken inside the transaction. */
  notify: boolean;
  /** `INSERT … OVERRIDING SYSTEM VALUE` is how a row with an identity keeps its number. */
  overridingSystemValue: boolean;
  /** A limited subquery is read only as far as the outer query needs; otherwise it is made whole first. */
  streamsSubqueries: boolean;
  /** Schema changes and grants are part of a transaction: what fails in the middle leaves nothing. */
  transactionalDdl: boolean;
  /** One role can look up what another one may do. */
  tellsRights: boolean;
  /** One statement can group the same rows in several ways. */
  groupingSets: boolean;
  /** An index can be of some rows alone. */
  partialIndexes: boolean;
  /** An index can be on a text of any length; otherwise it is told how much of its beginning to hold. */
  indexesWholeTexts: boolean;
  /** A subquery that is named at the beginning of a statement is worked out once, wherever it is used. */
  sharesSubqueries: boolean;
}

export interface Engine {
  key: EngineKey;
  features: EngineFeatures;
  fragments: Fragments;
  /** For statements a person reads and runs: identifiers and literals as this engine writes them. */
  quote: {
    identifier(name: string): string;
    literal(text: string): string;
  };
  /** Schema of tables named without one; null where that is the database of the URL. */
  defaultSchema: string | null;
  /** The console's own tables in an observed database: in a schema of their own, or beside the others with a prefix. */
  companions: { schema: string | null; prefix: string; columns: CompanionColumns };
  dialect(options: PoolOptions): Dialect;
  /** Sets the limits for the transaction that `db` is in, nothing beyond it: safe behind transaction pooling. */
  limit(db: Db, limits: TransactionLimits): Promise<void>;
  /**
   * Settings of the transaction that `db` is in, for statements written for an index: what one serves is never read
   * otherwise, whatever the statistics say; no parallel workers and no compiler, so that one reader takes one core.
   */
  byIndex(db: Db, allow?: Steering): Promise<void>;
  /** The time, and the transactions under way where the role may know them. Reads and locks nothing. */
  transactions(db: Db): Promise<Transactions>;
  /** About how many rows a table or a view has, as the planner takes it; Infinity where nobody can tell. Reads the catalogue and no row. */
  tableSize(db: Db, table: TableName): Promise<TableSize>;
  /** About how many rows a table has, its partitions together: when they were last counted, and how it has grown since. As cheap. */
  estimateRows(db: Db, table: TableName): Promise<number>;
  /** Other tables that show rows of these, or whose rows these show: what they are partitions of or inherit from, and the other way round. As cheap. */
  kin(db: Db, tables: Required<TableName>[]): Promise<TableName[]>;
  /** What the database has counted of changes to a table's rows, seconds late; null where nobody is told, and for a view, whose nobody counts. As cheap. */
  changeCounts(db: Db, table: TableName): Promise<ChangeCounts | null>;
  /** The table of the server that a role has to be let read for `changeCounts`, quoted; null where any role is told. */
  changeCounters: string | null;
  /** Whether the server that `db` is connected to knows `SELECT … FOR UPDATE SKIP LOCKED`. */
  skipsLocked(db: Db): Promise<boolean>;
  failure(error: unknown): DatabaseFailure;
  /** The server and its version as people write them, e.g. `PostgreSQL 16.4`. */
  version(db: Db): Promise<string>;
  /** null when the role sees no such table. */
  describe(db: Db, name: TableName): Promise<TableDescription | null>;
  /** Names of the tables and views the role sees in a schema; without one, where tables named without a schema are looked for. At most 2,000. */
  tableNames(db: Db, schema: string | null): Promise<string[]>;
  /** How far apart two neighbouring times of a column are, in milliseconds. */
  timeResolutionMs(description: ColumnDescription): number;
  /** Whether an id can be a value of this column at all; what cannot is simply not found. */
  idFits(id: string, description: ColumnDescription): boolean;
  /** Whether a text is a time as its columns print it, and one that the server takes back. */
  timeFits(text: string): boolean;
  /** True when the server refuses writes whatever the role: a replica, or read-only by setting. */
  isReadOnly(db: Db): Promise<boolean>;
  /** True when the server refuses every write of a transaction that reads what is committed: its binary log holds statements. */
  logsStatements(db: Db): Promise<boolean>;
}
