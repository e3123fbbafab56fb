/** What the doctor knows of an outbox before it judges. Every engine's reader answers the same facts; what it does not have is null. */
import type { Place } from '@/lib/shape/bound';
import type { SlotSeen } from '@/lib/outbox/replication-slots/seen';
import type { Rights } from '@/lib/outbox/rights/rights';
import type { IndexReport, TableReport, Unseen } from '@/lib/shared/doctor';

export interface ColumnFacts {
  name: string;
  type: string;
  /** Largest whole number the type holds, as text; null for other types. */
  largest: string | null;
  /** The values the server remembers as frequent, each with its share of the rows; text as the server prints it. */
  frequent: { value: string; share: number }[];
  /** Share of the rows that have nothing there, as the server remembers it. */
  nullShare: number;
  /** Ends of the other values when they were last sampled. */
  smallestSeen: string | null;
  largestSeen: string | null;
  /** Bytes of a value on average; null where they are not counted. */
  averageBytes: number | null;
  defaultText: string | null;
  /** Texts that differ in case alone are equal. */
  caseless: boolean;
}

export interface IndexFacts extends IndexReport {
  method: string;
  /** Key columns in order; '' for an expression. */
  columns: string[];
  predicate: string | null;
  unique: boolean;
  /** Its building failed, and none is under way. */
  unfinished: boolean;
}

export interface VacuumFacts {
  deadRows: number;
  /** So many of them make autovacuum start. */
  startsAtRows: number;
  enabled: boolean;
  /** Quoted names of the table, or of its parts, that have switched it off. */
  switchedOff: string[];
  vacuumedAt: string | null;
  /** Quoted names of the table, or of its parts, that a crash empties. */
  unlogged: string[];
}

export interface TableFacts extends Pick<TableReport, 'rows' | 'tableBytes' | 'indexBytes'> {
  place: Place;
  /** Quoted, for statements a person runs. */
  quoted: string;
  /** Of the rows themselves, without values stored apart from them. */
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
  /** Process id, name of the prepared transaction, of the slot, or by which a standby is connected. */
  who: string;
  user: string;
  application: string;
  /** How long it has been open; null where the role may not see it. */
  ageMs: number | null;
  transactions: number;
  state: string | null;
  /** The statement that would end it; null where none here does. */
  end: string | null;
}

/** A replication slot that keeps old versions of the catalogue, and not the tables' own. */
export interface CatalogueHolder {
  slot: string;
  /** null for a slot that is no single database's. */
  database: string | null;
  active: boolean;
  transactions: number;
  drop: string;
}

/** A logical replication slot, by which a connector reads what is written. */
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
  /** Codes of what is too wide, each with the statement that takes it back. */
  wide: { code: string; on: string; revoke: string | null }[];
}

/** Rights on a table or on columns of one beyond what is needed, and what takes them back; nothing where `names` are none. */
export const excessive = (code: string, on: string, names: readonly string[], revoke: string): RoleFacts['wide'] =>
  names.length === 0 ? [] : [{ code, on: `${on}: ${names.join(', ')}`, revoke }];

/** Rights on whole rows that operations need. */
export const neededOnRows = (needed: Rights | undefined): string[] =>
  needed === undefined ? [] : [...(needed.insert ? ['INSERT'] : []), ...(needed.delete ? ['DELETE'] : [])];

/** Bounded reads of rows; null where no index leads to them and the table is too large to read. */
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
  /** Values that no rule of the shape names, among the rows looked at. */
  unmapped: { looked: number; values: { value: string; rows: number }[] };
  oldestPublishedMs: number | null;
  /** How far the newest row is ahead of the database's clock; null where it is not, or unknown. */
  aheadMs: number | null;
}

export interface Facts {
  statisticsSince: string | null;
  /** Minutes that the session's zone is ahead of UTC, and that the outbox's own zone is. */
  zone: { name: string; minutes: number; expectedMinutes: number };
  main: TableFacts;
  dead: TableFacts | null;
  rows: RowFacts;
  holders: SnapshotHolder[];
  catalogueHolders: CatalogueHolder[];
  /** null where publishing does not go by replication slots, or the role may see none. `wanted` is null for any of the database's. */
  slots: { wanted: string | null; standby: boolean; found: SlotFacts[] } | null;
  roles: RoleFacts[];
  /** Row-level security keeps rows from the reader. */
  hidden: { table: string; policies: number; restricted: boolean }[];
  /** Foreign keys that delete rows of the outbox's tables with another table's, names quoted; `drop` is null for a partition's key. */
  cascades: { table: string; key: string; from: string; drop: string | null }[];
  /** InnoDB's transactions that wait to be purged, and the oldest that is open; null in each where the user may not see it. */
  purge: { historyLength: number | null; oldest: Pick<SnapshotHolder, 'who' | 'user' | 'ageMs' | 'end'> | null } | null;
  unseen: Unseen[];
}

export const tablesOf = ({ main, dead }: Pick<Facts, 'main' | 'dead'>): TableFacts[] => (dead === null ? [main] : [main, dead]);

export const DAY_MS = 86_400_000;

/** A table as findings call it. */
export const nameOf = ({ place: { table } }: TableFacts): string => (table.schema === null ? '' : `${table.schema}.`) + table.table;
