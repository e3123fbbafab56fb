/** The facts that checks judge. Every engine's reader returns the same facts; what an engine does not have is null. */
import type { Place } from '@/lib/shape/bound';
import type { SlotSeen } from '@/lib/outbox/replication-slots/seen';
import type { Rights } from '@/lib/outbox/rights/rights';
import type { IndexReport, TableReport, Unseen } from '@/lib/shared/doctor';

export interface ColumnFacts {
  name: string;
  type: string;
  /** Largest whole number the type holds, as text; null for other types. */
  largest: string | null;
  /** Frequent values by the server's statistics, each with its share of the rows; text as the server prints it. */
  frequent: { value: string; share: number }[];
  /** Share of rows with NULL, by the server's statistics. */
  nullShare: number;
  /** Smallest and largest of the other values when they were last sampled. */
  smallestSeen: string | null;
  largestSeen: string | null;
  /** Bytes of a value on average; null if they are not counted. */
  averageBytes: number | null;
  defaultText: string | null;
  /** Texts that differ only in case are equal. */
  caseless: boolean;
}

export interface IndexFacts extends IndexReport {
  method: string;
  /** Key columns in order; '' for an expression. */
  columns: string[];
  predicate: string | null;
  unique: boolean;
  /** Its build failed, and none is under way. */
  unfinished: boolean;
}

export interface VacuumFacts {
  deadRows: number;
  startsAtRows: number;
  enabled: boolean;
  /** Quoted names of the table, or of its partitions, with autovacuum switched off. */
  switchedOff: string[];
  vacuumedAt: string | null;
  /** Quoted names of the table, or of its partitions, that are emptied by a crash. */
  unlogged: string[];
}

export interface TableFacts extends Pick<TableReport, 'rows' | 'tableBytes' | 'indexBytes'> {
  place: Place;
  /** Quoted, for statements a person runs. */
  quoted: string;
  /** Of the rows themselves, without values stored out of line. */
  heapBytes: number;
  /** Counters since `Facts.statisticsSince`; `hotUpdates` are updates that touched no index. */
  writes: { inserts: number; updates: number; hotUpdates: number | null; deletes: number } | null;
  vacuum: VacuumFacts | null;
  columns: Map<string, ColumnFacts>;
  indexes: IndexFacts[];
  partitioned: boolean;
  /** Storage engine, where a server has several. */
  storage: { name: string; transactional: boolean } | null;
}

/** A transaction that keeps old row versions alive. */
export interface SnapshotHolder {
  kind: 'session' | 'prepared' | 'slot' | 'standby';
  /** Process id, or the name of the prepared transaction, of the slot, or of the standby's connection. */
  who: string;
  user: string;
  application: string;
  /** How long it has been open; null if that is not known, or the role may not see it. */
  ageMs: number | null;
  transactions: number;
  state: string | null;
  /** The statement that ends it; null if none on this server does. */
  end: string | null;
}

/** A replication slot that keeps old row versions of the catalogue, not of the tables. */
export interface CatalogueHolder {
  slot: string;
  /** null for a slot that is not of one database. */
  database: string | null;
  active: boolean;
  transactions: number;
  drop: string;
}

/** A logical replication slot, through which a connector reads what is written. */
export interface SlotFacts extends Pick<
  SlotSeen,
  'name' | 'plugin' | 'active' | 'retainedBytes' | 'unconfirmedBytes' | 'status' | 'invalidated'
> {
  /** How long it has had no reader; null while it has one, and before PostgreSQL 17. */
  inactiveMs: number | null;
  drop: string;
}

export interface RoleFacts {
  key: 'reader' | 'operator';
  name: string;
  /** Codes of what is too wide, each with the statement that revokes it. */
  wide: { code: string; on: string; revoke: string | null }[];
}

/** Rights on a table or on columns of one beyond what is needed, and the statement that revokes them; empty without `names`. */
export const excessive = (code: string, on: string, names: readonly string[], revoke: string): RoleFacts['wide'] =>
  names.length === 0 ? [] : [{ code, on: `${on}: ${names.join(', ')}`, revoke }];

export const neededOnRows = (needed: Rights | undefined): string[] =>
  needed === undefined ? [] : [...(needed.insert ? ['INSERT'] : []), ...(needed.delete ? ['DELETE'] : [])];

/** Bounded reads of rows; null if no index finds them and the table is too large to scan. */
export interface RowFacts {
  waiting: {
    seen: number;
    mostAttempts: number | null;
    /** Rows tried more often than `maxAttempts` says. */
    beyond: number;
    /** Rows tried as often as allowed that were not touched for a day. */
    stranded: number;
    oldestStrandedMs: number | null;
  } | null;
  dead: { count: number; oldestMs: number | null } | null;
  /** Values that no rule of the shape names, among the rows read. */
  unmapped: { looked: number; values: { value: string; rows: number }[] };
  oldestPublishedMs: number | null;
  /** How far the newest row is ahead of the database's clock; null if it is not, or if that is not known. */
  aheadMs: number | null;
}

/** Published rows past their retention: their WHERE and ORDER BY, without parameters; or why no purge can be written. */
export type OldRows = { where: string } | 'no_time' | 'no_index';

export interface Facts {
  statisticsSince: string | null;
  /** Minutes ahead of UTC: of the session's zone (on MySQL, the server's), and of the outbox's own. */
  zone: { name: string; minutes: number; expectedMinutes: number };
  main: TableFacts;
  dead: TableFacts | null;
  rows: RowFacts;
  old: OldRows;
  holders: SnapshotHolder[];
  catalogueHolders: CatalogueHolder[];
  /** null if publishing uses no replication slot, or the role may see none. `wanted`: null for any slot of the database. */
  slots: { wanted: string | null; standby: boolean; found: SlotFacts[] } | null;
  roles: RoleFacts[];
  /** Tables of which row-level security hides rows from the reader. */
  hidden: { table: string; policies: number; restricted: boolean }[];
  /** Foreign keys that delete rows of the outbox's tables with another table's, names quoted; `drop` is null for a partition's key. */
  cascades: { table: string; key: string; from: string; drop: string | null }[];
  /** InnoDB's transactions that wait to be purged, and the oldest that is open; each null if there is none, or the user may not see it. */
  purge: { historyLength: number | null; oldest: Pick<SnapshotHolder, 'who' | 'user' | 'ageMs' | 'end'> | null } | null;
  unseen: Unseen[];
}

export const tablesOf = ({ main, dead }: Pick<Facts, 'main' | 'dead'>): TableFacts[] => (dead === null ? [main] : [main, dead]);

export const DAY_MS = 86_400_000;

export const nameOf = ({ place: { table } }: TableFacts): string => (table.schema === null ? '' : `${table.schema}.`) + table.table;
