/** How one engine is made to write down every change of the tables a race test watches. */
import type { ColumnDescription } from '@/lib/database/description';
import type { Place } from '@/lib/shape/bound';

/** The columns of a row as texts. */
export type Image = Record<string, string | null>;

/** A table to watch, its names quoted. */
export interface WatchedTable {
  place: Place['key'];
  name: string;
  /** SQL for the event's id and for all its columns as JSON of texts, of the row called `row`. */
  id(row: string): string;
  image(row: string): string;
}

/** How one engine is made to write down what happens. */
export interface Witness {
  /** SQL for a column as text. */
  text(column: string, description: ColumnDescription): string;
  /** SQL for JSON with these names and texts. */
  object(names: string[], texts: string[]): string;
  ddl(tables: WatchedTable[], headers: string): string[];
}
