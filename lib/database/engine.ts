/** The interface of a database engine. Code above it uses features and fragments and never tests which engine it is. */
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
  connectTimeoutMs: number;
  /** The client abandons a statement after this time and drops the connection, in milliseconds; above every server timeout. */
  clientTimeoutMs: number;
  onIdleError(error: Error): void;
  /** Statement run on each new connection; only for databases whose sessions no pooler shares. */
  prepare?: string;
}

/** Limits of one transaction, in milliseconds. */
export interface TransactionLimits extends Record<'statementMs' | 'lockMs' | 'idleMs', number> {
  /** For read-only transactions: a single statement. BEGIN and COMMIT are sent along with it or left out. */
  alone?: boolean;
}

/** Planner settings of one transaction on top of what `byIndex` sets. */
export interface PlannerSettings {
  scans?: boolean;
  /** Allows bitmap scans. */
  blocks?: boolean;
  /** Groups rows by hashing, never by sorting. */
  hashes?: boolean;
  /** Gives each sort and hash 32 MB of the server's memory. */
  memory?: boolean;
}

export interface Transactions {
  /** By the server's clock: ISO 8601 UTC with microseconds. */
  at: string;
  /** Every transaction with an id below `oldest` has ended, the next one gets the id `next`; null if the engine does not report them. */
  open: { oldest: bigint; next: bigint } | null;
}

export interface TableSize {
  rows: number;
  partitioned: boolean;
}

/** Row changes counted by the database since its last statistics reset, rolled back ones included. */
export type ChangeCounts = Record<'inserted' | 'updated' | 'deleted', number>;

export function ownColumn(type: string, kind: ColumnDescription['kind']): ColumnDescription {
  return { name: '', type, kind, nullable: true, generated: false };
}

/** `name`: a short text, for keys. `time`: an instant, to the microsecond. */
export type CompanionColumns = Record<'id' | 'name' | 'text' | 'json' | 'number' | 'time', ColumnDescription>;

export interface EngineFeatures {
  /** INSERT, UPDATE and DELETE have RETURNING. */
  returning: boolean;
  /** A transaction can notify a waiting process (NOTIFY). */
  notify: boolean;
  /** Inserting a row with its identity value needs `OVERRIDING SYSTEM VALUE`. */
  overridingSystemValue: boolean;
  /** A subquery with LIMIT is read only as far as the outer query needs; otherwise it is materialized first. */
  streamsSubqueries: boolean;
  /** Schema changes and grants can be rolled back: a failure halfway leaves nothing behind. */
  transactionalDdl: boolean;
  /** A role can query the privileges of another role. */
  tellsRights: boolean;
  /** One statement can group the same rows in several ways (GROUPING SETS). */
  groupingSets: boolean;
  /** An index can be limited to some of the rows. */
  partialIndexes: boolean;
  /** A text of any length can be indexed; otherwise an index needs a prefix length. */
  indexesWholeTexts: boolean;
  /** A CTE is evaluated once, however often it is used. */
  sharesSubqueries: boolean;
  /** An INSERT converts a value of any type to that of its column, as far as it can. */
  convertsOnInsert: boolean;
  /** A collation may treat texts as equal that differ only in case or trailing spaces. */
  foldsTexts: boolean;
  /** Asked loosely, which may take half the time, a text of JSON is exact; otherwise `true` and `false` may be 1 and 0. */
  exactScalars: boolean;
  /** Entries of every index end with the primary key: rows of one value are found in its order. */
  keyEndsIndexes: boolean;
}

export interface Engine {
  key: EngineKey;
  features: EngineFeatures;
  fragments: Fragments;
  /** Quotes identifiers and literals in statements that a person reads and runs. */
  quote: { identifier(name: string): string; literal(text: string): string };
  /** Schema of tables named without one; null if that is the database of the URL. */
  defaultSchema: string | null;
  /** The console's own tables in an observed database: in a schema of their own, or beside the others with a prefix. */
  companions: { schema: string | null; prefix: string; columns: CompanionColumns };
  dialect(options: PoolOptions): Dialect;
  /** Sets the limits of the transaction `db` is in: local to it on PostgreSQL (safe behind poolers), session settings on MySQL. */
  limit(db: Db, limits: TransactionLimits): Promise<void>;
  /** For statements written for an index: turns off other scans, JIT and parallel workers in this transaction. */
  byIndex(db: Db, allow?: PlannerSettings): Promise<void>;
  /** The server's time and its open transactions, if it reports them. Reads no table and locks nothing. */
  transactions(db: Db): Promise<Transactions>;
  /** Approximate rows of a table or view by the planner's estimate; Infinity if unknown. Reads the catalogue and no row. */
  tableSize(db: Db, table: TableName): Promise<TableSize>;
  /** Approximate rows of a table with its partitions: the last count, scaled by the growth since. Reads the catalogue and no row. */
  estimateRows(db: Db, table: TableName): Promise<number>;
  /** Tables that share rows with these: their ancestors and descendants by partitioning or inheritance. Reads the catalogue and no row. */
  relatedTables(db: Db, tables: Required<TableName>[]): Promise<TableName[]>;
  /** Row changes of a table as the database counts them, seconds late; null for a view, or if there is no count or no right to it. */
  changeCounts(db: Db, table: TableName): Promise<ChangeCounts | null>;
  /** The server's table that a role needs SELECT on for `changeCounts`, as SQL names it; null if no right is needed. */
  changeCounters: string | null;
  /** What detection reads: the tables, and bounded samples of the values of a column. */
  catalogue: CatalogueReader;
  /** Rules of these tables, in their order, from the catalogue; locks nothing. Throws DatabaseFailure, `missing` if a table is gone. */
  tableRules(db: Db, tables: Required<TableName>[]): Promise<TableRules[]>;
  /** Their signatures alone, in the same way. */
  tableSignatures(db: Db, tables: Required<TableName>[]): Promise<string[]>;
  /** Rights of a role on each of these tables, in their order; null if unknown: behind a pooler, or if a role sees only its own. */
  roleRights(db: Db, role: string, tables: Required<TableName>[]): Promise<RoleRights[] | null>;
  /** Whether a role may call each of these functions, in their order. Only PostgreSQL's shapes have operations that call one. */
  callRights(db: Db, role: string, functions: { schema: string; name: string }[]): Promise<boolean[]>;
  /** Checks deferred constraints and runs deferred triggers now; later changes are deferred again. Throws the driver's error. */
  settleConstraints(db: Db): Promise<void>;
  failure(error: unknown): DatabaseFailure;
  /** Server name and version, e.g. `PostgreSQL 16.4`. */
  version(db: Db): Promise<string>;
  /** null if the role sees no such table. */
  describe(db: Db, name: TableName): Promise<TableDescription | null>;
  /** Names of tables and views the role sees in a schema; without one, on the search path or in the database of the URL. At most 2,000. */
  tableNames(db: Db, schema: string | null): Promise<string[]>;
  timeResolutionMs(description: ColumnDescription): number;
  /** Whether an id can be a value of this column; one that cannot is reported as not found. */
  idFits(id: string, description: ColumnDescription): boolean;
  /** Whether a text is a time as this engine prints it and accepts it back. */
  timeFits(text: string): boolean;
  /** True if the server refuses writes whatever the role: a replica, or read-only by setting. */
  isReadOnly(db: Db): Promise<boolean>;
  /** Who else is connected to this database, at most five, most connections first; null if the server shows this role only its own. */
  otherSessions(db: Db): Promise<{ name: string; count: number }[] | null>;
  /** True if the server refuses all writes of READ COMMITTED transactions: binlog_format = STATEMENT. */
  logsStatements(db: Db): Promise<boolean>;
}
