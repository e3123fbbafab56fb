/** The seam between the console and a kind of database: everything above asks the engine (flags, fragments), and not which one it is. */
import type { Dialect } from 'kysely';
import type { EngineKey } from '@/lib/shared/model';
import type { Lane, Source } from './connections/share';
import type { CatalogueReader } from './catalogue';
import type { DatabaseFailure } from './failure';
import type { ColumnDescription, Db, RoleRights, TableDescription, TableName, TableRules } from './description';
import { type Fragments } from './fragments';

export interface PoolOptions {
  url: string;
  applicationName: string;
  lane<C extends object>(source: Source<C>): Lane<C>;
  /** Longest time that opening a connection may take, in milliseconds. */
  connectTimeoutMs: number;
  /** The client gives a statement up after this and drops the connection, in milliseconds: above every server timeout. */
  clientTimeoutMs: number;
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
export interface PlannerSettings {
  /** Tables may be read whole. */
  scans?: boolean;
  /** An index may tell blocks, whose rows are then looked through. */
  blocks?: boolean;
  /** Rows are grouped by hashing, never by sorting them first. */
  hashes?: boolean;
  /** Sorts and groups of many rows stay in the server's memory: 32 MB of it. */
  memory?: boolean;
}

export interface Transactions {
  /** By the server's clock: ISO 8601 UTC with microseconds. */
  at: string;
  /** Every transaction numbered below `oldest` has ended, and the next one gets the number `next`; null where nobody is told. */
  open: { oldest: bigint; next: bigint } | null;
}

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

export const ownColumn = (type: string, kind: ColumnDescription['kind']): ColumnDescription => ({
  name: '',
  type,
  kind,
  nullable: true,
  generated: false,
});

export interface CompanionColumns {
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
  /** Texts that differ in case alone, or in spaces at their end, may be one to a column, which then holds either. */
  foldsTexts: boolean;
  /** The entries of every index end with the primary key: rows of one value are found in its order. */
  keyEndsIndexes: boolean;
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
  /** For statements written for an index: what one serves is never read otherwise in this transaction, and one reader takes one core. */
  byIndex(db: Db, allow?: PlannerSettings): Promise<void>;
  /** The time, and the transactions under way where the role may know them. Reads and locks nothing. */
  transactions(db: Db): Promise<Transactions>;
  /** About how many rows a table or a view has, as the planner takes it; Infinity where nobody can tell. Reads the catalogue and no row. */
  tableSize(db: Db, table: TableName): Promise<TableSize>;
  /** About how many rows a table has, its partitions together: when they were last counted, and how it has grown since. As cheap. */
  estimateRows(db: Db, table: TableName): Promise<number>;
  /** Other tables that show rows of these, or whose rows these show: what they are partitions of or inherit from, and the other way round. As cheap. */
  relatedTables(db: Db, tables: Required<TableName>[]): Promise<TableName[]>;
  /** What the database has counted of changes to a table's rows, seconds late; null where nobody is told, and for a view, whose nobody counts. As cheap. */
  changeCounts(db: Db, table: TableName): Promise<ChangeCounts | null>;
  /** The table of the server that a role has to be let read for `changeCounts`, quoted; null where any role is told. */
  changeCounters: string | null;
  /** For finding outboxes: every table in one look, and bounded looks at the values of a column. */
  catalogue: CatalogueReader;
  /** The rules of each of these tables, in their order, by one look into the catalogue; locks nothing. Throws DatabaseFailure, `missing` when a table is gone. */
  tableRules(db: Db, tables: Required<TableName>[]): Promise<TableRules[]>;
  /** The rights of a role on each of these tables, in their order; null where nobody can tell: behind a pooler, or only for oneself. */
  roleRights(db: Db, role: string, tables: Required<TableName>[]): Promise<RoleRights[] | null>;
  /** Whether a role may call each of these functions, in their order. Only PostgreSQL's shapes have operations that call one. */
  callRights(db: Db, role: string, functions: { schema: string; name: string }[]): Promise<boolean[]>;
  /** Checks deferred constraints and runs deferred triggers now, and puts off again what comes after. Throws the driver's error. */
  settleConstraints(db: Db): Promise<void>;
  failure(error: unknown): DatabaseFailure;
  /** The server and its version as people write them, e.g. `PostgreSQL 16.4`. */
  version(db: Db): Promise<string>;
  /** null when the role sees no such table. */
  describe(db: Db, name: TableName): Promise<TableDescription | null>;
  /** Names of the tables and views the role sees in a schema; without one, where tables named without a schema are looked for. At most 2,000. */
  tableNames(db: Db, schema: string | null): Promise<string[]>;
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
