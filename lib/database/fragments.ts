import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription, Direction, TableDescription, TableName } from './description';

export const TRUTH_WORDS = { true: ['1', 't', 'true', 'y', 'yes', 'on'], false: ['0', 'f', 'false', 'n', 'no', 'off'] };

export const oneOf = (column: RawBuilder<unknown>, values: RawBuilder<unknown>[]): RawBuilder<boolean> =>
  values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} in (${sql.join(values)})`;

/** SQL fragments that differ between engines. Column arguments are already quoted references. */
export interface Fragments {
  /** ISO 8601 UTC text with microseconds; NULL for NULL and for times outside the calendar (infinity). */
  isoTime(column: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<string | null>;
  /** An instant comparable with `now()`, whatever the column's type. */
  instant(column: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  /** An ISO 8601 text in the column's own encoding, so that its index serves. */
  instantValue(iso: string, description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  /** An instant, e.g. `now()`, in the column's own encoding: to compare with it, and to write into it. */
  fromInstant(instant: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  secondsBefore(instant: RawBuilder<unknown>, seconds: number): RawBuilder<unknown>;
  /** Compares a boolean, a bit, 0 and 1 or their texts with true or false; NULL is neither. */
  isTrue(column: RawBuilder<unknown>, description: ColumnDescription, wanted: boolean): RawBuilder<boolean>;
  /** The last element of an array or JSON array, with its description; NULL for anything else. */
  lastElement(column: RawBuilder<unknown>, description: ColumnDescription): { sql: RawBuilder<unknown>; description: ColumnDescription };
  /** An array of these texts in the column's type, as a function argument. */
  list(values: readonly string[], description: ColumnDescription): RawBuilder<unknown>;
  /** The column as text. With a description also for bytes and bits, in the form that `typed` takes. */
  asText(column: RawBuilder<unknown>, description?: ColumnDescription): RawBuilder<string | null>;
  /** Text as a value of the column's type, so that its index serves; also in a select list. For equality see `isOneOf`. */
  typed(value: string, description: ColumnDescription): RawBuilder<unknown>;
  /** A value as the column would store it, rounded and cut to its type. */
  asColumn(value: RawBuilder<unknown>, description: ColumnDescription): RawBuilder<unknown>;
  /** Exactly one of these values, given as text, whatever the collation treats as equal; an index of the column serves. */
  isOneOf(column: RawBuilder<unknown>, values: string[], description: ColumnDescription): RawBuilder<boolean>;
  /** As `isOneOf` for thousands of values in one parameter; null if the engine needs one parameter each. */
  isAnyOf(column: RawBuilder<unknown>, values: string[], description: ColumnDescription): RawBuilder<boolean> | null;
  /** The columns are exactly one of these rows of values, given as text: an array per column; null if the engine has none. An index serves. */
  isRowOf(
    columns: readonly { sql: RawBuilder<unknown>; description: ColumnDescription }[],
    rows: readonly string[][],
  ): RawBuilder<boolean> | null;
  /** Rows of values, given as text, for an INSERT: in one parameter per column where the engine has arrays. */
  rowsOf(columns: readonly ColumnDescription[], rows: readonly (string | null)[][]): RawBuilder<unknown>;
  /** As `isOneOf` for values of a mapping: literals, so that a partial index serves. A value the column cannot hold matches nothing. */
  isLiteral(column: RawBuilder<unknown>, values: (string | number | boolean)[], description: ColumnDescription | null): RawBuilder<boolean>;
  /** Compares two rows of sort keys, as in `(a, b) < (x, y)`. An index of the first key serves. */
  beyond(left: RawBuilder<unknown>[], sign: '<' | '>' | '<=' | '>=', right: RawBuilder<unknown>[]): RawBuilder<boolean>;
  /** An ORDER BY term with its NULLs first or last; an index in that order serves. */
  ordered(key: RawBuilder<unknown>, direction: Direction, nulls: 'first' | 'last'): RawBuilder<unknown>;
  /** A table with an alias; forces this index if one is given and the engine has index hints. */
  from(table: TableName, alias: string, index?: string | null): RawBuilder<unknown>;
  /** Start of a DELETE from one table, up to its WHERE. */
  deleteFrom(table: TableName, alias: string): RawBuilder<unknown>;
  forUpdate(alias: string, wait: 'skip locked' | 'wait'): RawBuilder<unknown>;
  /** End of an INSERT that skips rows whose key exists. Empty if the engine can only fail on them, as `duplicate`. */
  unlessTaken(): RawBuilder<unknown>;
  /** End of a subquery whose values are computed once, not at each use. */
  workedOut(): RawBuilder<unknown>;
  /** The row's version as digits (its physical one) or as 32 hexadecimal digits (a digest of its columns). */
  rowVersion(alias: string, table: TableDescription, timeZone: string): RawBuilder<string>;
  /** Ids of the transactions that last wrote the row, and last locked or tried to change it (also rolled back ones); null without ids. */
  rowTouch(alias: string): { written: RawBuilder<string>; taken: RawBuilder<string> } | null;
  /** All columns of a row, its physical version included, for a subquery that passes whole rows on. */
  wholeRow(alias: string, table: TableDescription): RawBuilder<unknown>;
  /**
   * Digest of key, creation time and payload as text, which stay the same while a relay works on the row. A payload above 64 kB counts by
   * its size, and by its beginning if its type (`description`) can be read in part.
   */
  stableDigest(parts: RawBuilder<unknown>[], payload: RawBuilder<unknown> | null, description?: ColumnDescription): RawBuilder<string>;
  /** The text at a path of a JSON value, or of a text or bytes (UTF-8) with JSON; NULL if there is none. `loosely`: see `exactScalars`. */
  jsonText(column: RawBuilder<unknown>, path: string[], description: ColumnDescription, loosely?: boolean): RawBuilder<string | null>;
  /** The same of a JSON column, for an index: by the `expression` of an index that has it, if it is one of these. */
  indexedTexts(column: RawBuilder<unknown>, name: string, path: string[]): Record<string, RawBuilder<string | null>>;
  /** Size of a value in bytes, without reading it: exact if `tellsSize`, otherwise the stored size, times eight if compressed. */
  sizeBytes(column: RawBuilder<unknown>, description: ColumnDescription): RawBuilder<number>;
  /** Whether the exact size of this column's values is known without reading them. */
  tellsSize(description: ColumnDescription): boolean;
  /** The first `characters` of the value as text; bytes as hexadecimal digits. */
  head(column: RawBuilder<unknown>, description: ColumnDescription, characters: number): RawBuilder<string | null>;
  /** The named columns of a row as one JSON object of texts. */
  rowAsJson(columns: { name: string; column: RawBuilder<unknown>; description?: ColumnDescription }[]): RawBuilder<string>;
  /** Case-insensitive substring test with wildcards taken literally. */
  contains(column: RawBuilder<unknown>, needle: string): RawBuilder<boolean>;
  notTrue(condition: RawBuilder<boolean>): RawBuilder<boolean>;
  /** The current time, comparable with the result of `instant`. */
  now(): RawBuilder<unknown>;
  nowFor(description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  nowIso(): RawBuilder<string>;
  /** Milliseconds from `from` to `to` as a float. */
  millisecondsBetween(from: RawBuilder<unknown>, to: RawBuilder<unknown>): RawBuilder<number>;
  /** NULL of this type, for a select list. */
  nothing(kind: 'instant' | 'text' | 'integer' | 'float'): RawBuilder<null>;
  /** An instant, as `instant` returns it; NULL outside the calendar (infinity, zero dates, years above 9999). */
  sane(instant: RawBuilder<unknown>): RawBuilder<unknown>;
  instantOf(iso: string): RawBuilder<unknown>;
  /** An instant as ISO 8601 UTC text with microseconds. */
  instantText(instant: RawBuilder<unknown>): RawBuilder<string | null>;
  epochMs(instant: RawBuilder<unknown>): RawBuilder<number | null>;
  /** Index of the interval of `seconds` that contains an instant, counted from the epoch. */
  epochSteps(instant: RawBuilder<unknown>, seconds: number): RawBuilder<number | null>;
  float(value: RawBuilder<unknown>): RawBuilder<number | null>;
  /** Any integer as a 64-bit one. */
  integer(value: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Any integer as a 32-bit one, where the engine has a cast for it. */
  shortInteger(value: RawBuilder<unknown>): RawBuilder<number | null>;
  /** A text column of the console's own tables equals this text; an index of the column serves. */
  isText(column: RawBuilder<unknown>, text: RawBuilder<unknown>): RawBuilder<boolean>;
  /** A text compared, grouped and sorted by its bytes, whatever its column's collation. */
  bytewise(text: RawBuilder<unknown>): RawBuilder<string | null>;
  /** Whether row-level security hides rows of these tables from this role. Reads the catalogue; locks nothing. */
  hidesRows(tables: readonly Required<TableName>[]): RawBuilder<boolean>;
}
