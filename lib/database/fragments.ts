import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription, Direction, TableDescription, TableName } from './description';

/** Words for true and for false, as texts hold them. */
export const TRUTH_WORDS = { true: ['1', 't', 'true', 'y', 'yes', 'on'], false: ['0', 'f', 'false', 'n', 'no', 'off'] };

export const oneOf = (column: RawBuilder<unknown>, values: RawBuilder<unknown>[]): RawBuilder<boolean> =>
  values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} in (${sql.join(values)})`;

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
  /** A value as it is after the column has taken it, rounded and cut to its type. */
  asColumn(value: RawBuilder<unknown>, description: ColumnDescription): RawBuilder<unknown>;
  /** Exactly one of these values, given as text, whatever the collation thinks is the same; an index of the column serves. */
  isOneOf(column: RawBuilder<unknown>, values: string[], description: ColumnDescription): RawBuilder<boolean>;
  /** As `isOneOf` for thousands of values; null where a statement takes each as a parameter of its own. */
  isAnyOf(column: RawBuilder<unknown>, values: string[], description: ColumnDescription): RawBuilder<boolean> | null;
  /** As `isOneOf` for what a mapping names: literals, so that a partial index serves. A value the column cannot hold matches nothing. */
  isLiteral(column: RawBuilder<unknown>, values: (string | number | boolean)[], description: ColumnDescription | null): RawBuilder<boolean>;
  /** `left` behind `right` in an order by several keys: all of them less, or greater (`<`, `>`, `<=`, `>=`). An index of the first serves. */
  beyond(left: RawBuilder<unknown>[], sign: '<' | '>' | '<=' | '>=', right: RawBuilder<unknown>[]): RawBuilder<boolean>;
  /** A sort key with its NULLs where an index read that way has them. */
  ordered(key: RawBuilder<unknown>, direction: Direction, nulls: 'first' | 'last'): RawBuilder<unknown>;
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
  /** The row's version as digits or 32 hexadecimal digits: its physical one, otherwise a digest of its columns. */
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
  /** How large a value is in bytes, without reading it: exactly where `tellsSize`, otherwise as stored, eight times that if compressed. */
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
  nowFor(description: ColumnDescription, timeZone: string): RawBuilder<unknown>;
  nowIso(): RawBuilder<string>;
  /** Milliseconds from `from` to `to` as a float. */
  millisecondsBetween(from: RawBuilder<unknown>, to: RawBuilder<unknown>): RawBuilder<number>;
  /** NULL as a value of this kind, for a select list. */
  nothing(kind: 'instant' | 'text' | 'integer' | 'float'): RawBuilder<null>;
  /** An instant, as `instant` gives it, within the calendar: infinity, zero dates and years nobody meant become NULL. */
  sane(instant: RawBuilder<unknown>): RawBuilder<unknown>;
  instantOf(iso: string): RawBuilder<unknown>;
  /** An instant as ISO 8601 UTC text with microseconds. */
  instantText(instant: RawBuilder<unknown>): RawBuilder<string | null>;
  epochMs(instant: RawBuilder<unknown>): RawBuilder<number | null>;
  /** Whole steps of `seconds` since the epoch that had begun at an instant. */
  epochSteps(instant: RawBuilder<unknown>, seconds: number): RawBuilder<number | null>;
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
