/**
 * What the doctor knows of an outbox before it judges: catalogue and statistics, and a few bounded looks at rows. Every
 * engine's reader answers the same facts; what an engine does not have is null.
 */
import type { Place } from '@/lib/shape/bound';
import type { SlotSeen } from '@/lib/outbox/slots';
import type { Unseen } from '@/lib/shared/doctor';

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
  /** Bytes of a value on average; null where nobody has counted. */
  averageBytes: number | null;
  /** Declared values of an enumerated type. */
  declared: string[];
  /** Column default as the server prints it. */
  defaultText: string | null;
  /** Texts that differ in case alone are equal. */
  caseless: boolean;
  /** Where texts can hold some characters only; null where they hold all, and for other types. */
  charset: string | null;
}

export interface IndexFacts {
  name: string;
  definition: string;
  method: string;
  /** Key columns in order; '' for an expression. */
  columns: string[];
  /** Columns it stores without sorting by them. */
  included: string[];
  /** Columns of its keys, expressions and predicate. */
  depends: string[];
  predicate: string | null;
  /** How it sorts, for comparing two of them. */
  sorting: string;
  unique: boolean;
  primary: boolean;
  /** Behind a constraint: dropped with it only. */
  constraint: boolean;
  valid: boolean;
  bytes: number;
  /** null where nobody has counted them yet. */
  entries: number | null;
  scans: number | null;
}

export interface VacuumFacts {
  /** Row versions nobody needs any more. */
  deadRows: number;
  /** So many of them make autovacuum start. */
  startsAtRows: number;
  /** It runs on this server at all. */
  enabled: boolean;
  /** Quoted names of the table, or of its parts, that have switched it off. */
  switchedOff: string[];
  vacuumedAt: string | null;
  /** Rows written since the planner's statistics were taken; so many make autovacuum take new ones. */
  changedSinceAnalyzed: number;
  analyzesAtRows: number;
  analyzedAt: string | null;
  /** Never analyzed at all. */
  uncounted: boolean;
  /** Percent of a page that inserts fill. */
  fillfactor: number;
  /** Quoted names of the table, or of its parts, that a crash empties. */
  unlogged: string[];
}

/** Counters since `Facts.statisticsSince`. */
export interface WriteCounters {
  inserts: number;
  updates: number;
  /** Of the updates, those that touched no index; null where the engine does not know. */
  hotUpdates: number | null;
  deletes: number;
}

export interface TableFacts {
  place: Place;
  /** Quoted, for statements a person runs. */
  quoted: string;
  rows: number | null;
  /** With values stored apart from their rows. */
  tableBytes: number;
  /** Of the rows themselves. */
  heapBytes: number;
  indexBytes: number;
  /** Empty beside these, in a file that is the table's own; null where the engine does not tell. */
  freeBytes: number | null;
  /** Bytes of a row on average, header included; null where nobody has counted. */
  rowBytes: number | null;
  writes: WriteCounters | null;
  vacuum: VacuumFacts | null;
  columns: Map<string, ColumnFacts>;
  indexes: IndexFacts[];
  partitioned: boolean;
  /** Somebody is building an index, or vacuuming. */
  busy: boolean;
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
  database: string;
  /** How long it has been open; null where the role may not see it. */
  ageMs: number | null;
  /** Transactions that began since. */
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
  /** Transactions that began since. */
  transactions: number;
}

/** A logical replication slot, by which a connector reads what is written. */
export interface SlotFacts extends Pick<
  SlotSeen,
  'name' | 'plugin' | 'active' | 'retainedBytes' | 'unconfirmedBytes' | 'status' | 'invalidated'
> {
  /** How long nobody has been connected; null while somebody is, and before PostgreSQL 17. */
  inactiveMs: number | null;
}

export interface SlotsFacts {
  /** The one that the configuration names; null for any of the database's. */
  wanted: string | null;
  /** The console reads from a standby, where slots of the primary do not show. */
  standby: boolean;
  found: SlotFacts[];
}

/** Rights beyond what watching, or operating, needs. */
export interface RoleFacts {
  key: 'reader' | 'operator';
  name: string;
  /** Codes of what is too wide, each with the statement that takes it back. */
  wide: { code: string; on: string; revoke: string | null }[];
}

export interface SequenceFacts {
  column: string;
  /** The last number given out, and the largest the column or its sequence can hold; as text. */
  last: string;
  limit: string;
  usedShare: number;
  /** What makes room. */
  widen: string | null;
}

/** A foreign key that deletes rows of one of the outbox's tables with those of a table that is none of its own. */
export interface CascadeFacts {
  /** Quoted, as the other names here. */
  table: string;
  key: string;
  from: string;
  /** What ends it; null where it is another table's key. */
  drop: string | null;
}

/** Bounded looks at rows; null where no index leads to them and the table is too large to read. */
export interface RowFacts {
  waiting: {
    /** Rows looked at, at most the bound. */
    looked: number;
    capped: boolean;
    mostAttempts: number | null;
    /** Rows tried more often than `maxAttempts` says. */
    beyond: number;
    /** Rows tried as often as allowed that nobody has touched for a day. */
    stranded: number;
    oldestStrandedMs: number | null;
  } | null;
  dead: { count: number; capped: boolean; oldestMs: number | null } | null;
  /** Values that no rule of the shape names, among the rows looked at. */
  unmapped: { looked: number; values: { value: string; rows: number }[] };
  /** Age of the oldest published row; null where unknown. */
  oldestPublishedMs: number | null;
  /** How far the newest row is ahead of the database's clock; null where it is not, or nobody knows. */
  aheadMs: number | null;
  /** Rows dated before any calendar; null where nobody looked. */
  zeroDates: { column: string; events: number } | null;
  /** The largest number used as a key. */
  largestId: string | null;
}

/** What only InnoDB has. */
export interface InnodbFacts {
  historyLength: number | null;
  bufferPoolBytes: number | null;
  /** Pages that had to be read from disk, of all asked for. */
  missShare: number | null;
  requests: number | null;
  strict: boolean;
  zeroDatesAllowed: boolean;
}

export interface Facts {
  /** The database's clock minus the console's; and how far that can be off. */
  clock: { aheadMs: number; uncertaintyMs: number };
  statisticsSince: string | null;
  /** Minutes that the session's zone is ahead of UTC, and that the outbox's own zone is. */
  zone: { name: string; minutes: number; expectedMinutes: number };
  main: TableFacts;
  dead: TableFacts | null;
  rows: RowFacts;
  holders: SnapshotHolder[];
  catalogueHolders: CatalogueHolder[];
  /** null where publishing does not go by replication slots, or nobody may see them. */
  slots: SlotsFacts | null;
  roles: RoleFacts[];
  sequence: SequenceFacts | null;
  /** Row-level security keeps rows from the reader. */
  hidden: { table: string; policies: number; restricted: boolean }[];
  cascades: CascadeFacts[];
  innodb: InnodbFacts | null;
  unseen: Unseen[];
}

/** Both tables that hold live events, the outbox first. */
export function tablesOf({ main, dead }: Facts): TableFacts[] {
  return dead === null ? [main] : [main, dead];
}
