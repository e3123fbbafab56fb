import { indexedPlace, type IndexedTable, type WantedIndex } from '@/lib/outbox/indexes/wanted-index';
import type { ColumnFacts, IndexFacts, TableFacts } from '../facts/facts';

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
  widen(table: TableFacts, column: ColumnFacts): string;
  /** Writes the table anew. */
  rewrite(table: TableFacts): string;
}

/** A table as the statement of an index asks for it: with the indexes it has by now. */
export function indexed({ place, indexes }: TableFacts): IndexedTable {
  const table = indexedPlace(place);
  return { ...table, taken: [...table.taken, ...indexes.map(({ name }) => name)] };
}
