import type { Leaf } from '@/lib/outbox/conditions';
import type { IndexFacts, TableFacts } from '../facts/facts';

/** A test on one column that the predicate of an index can hold: it never changes with the clock or a parameter. */
export type IndexTest = Extract<Leaf, { equals: unknown }> | Extract<Leaf, { in: unknown }> | Extract<Leaf, { isNull: unknown }>;

export const isIndexTest = (test: Leaf): test is IndexTest =>
  (('equals' in test || 'in' in test) && test.ignoreCase !== true) || 'isNull' in test;

/** An index that is wanted: its columns in order, and the rows it is to hold where the engine can leave others out. */
export interface WantedIndex {
  /** Ends its name: `<table>_<purpose>`. */
  purpose: string;
  columns: string[];
  /** Tests on single columns that all its rows pass; empty for every row. */
  tests: IndexTest[];
  unique?: boolean;
}

/** Rows a purge takes at once: short enough that nobody waits for its locks. */
export const PURGE_ROWS = 5_000;

/** The statements of one engine, for a person to read and run. None is ever run by the console. */
export interface Cures {
  /** False where an index always holds every row. */
  partialIndexes: boolean;
  /** Bytes of one entry beside its values. */
  entryOverheadBytes: number;
  /** Without stopping writers; null where the engine cannot do so with this table. */
  createIndex(table: TableFacts, wanted: WantedIndex): string | null;
  dropIndex(table: TableFacts, index: IndexFacts): string;
  rebuildIndex(table: TableFacts, index: IndexFacts): string;
  /** Gives the space of rows that are gone back to new ones, and takes new statistics. */
  clean(table: TableFacts): string;
  analyze(table: TableFacts): string;
  /** Takes one batch of published rows older than so many days; repeated until it takes none. */
  purge(table: TableFacts, id: string, published: string, keepDays: number): string;
  /** Makes a whole-number column wider. */
  widen(table: TableFacts, column: string): string;
  /** Writes the table anew. */
  rewrite(table: TableFacts): string;
}
