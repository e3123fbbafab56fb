import { sql, type RawBuilder } from 'kysely';
import { bytesOf } from '../column-text';
import type { ColumnDescription } from '../description';
import { oneOf, TRUTH_WORDS } from '../fragments';
import { utcText } from './times';

type Sql<T = unknown> = RawBuilder<T>;

/** A column as text: bits as a number; bytes as what they hold, otherwise as hexadecimal digits. */
export function asText(column: Sql, description?: ColumnDescription): Sql<string | null> {
  if (description?.kind === 'binary') return bytesAsText(column, description);
  // `+ 0` turns bits into a number and drops the leading zeros of ZEROFILL.
  if (description !== undefined && /^bit|zerofill/i.test(description.type)) return sql`cast(${column} + 0 as char)`;
  return sql`cast(${column} as char)`;
}

/** Bytes that are not what the column holds, and a text that would look like those, are digits after `\x`. */
function bytesAsText(column: Sql, { holds }: ColumnDescription): Sql<string | null> {
  const digits = sql<string | null>`lower(hex(${column}))`;
  if (holds === undefined) return digits;
  const other = sql`concat(convert(x'5c78' using utf8mb4), ${digits})`;
  if (holds === 'text') return sql`cast(coalesce(case when left(${column}, 2) <> x'5c78' then ${heldText(column)} end, ${other}) as char)`;
  const dashed = [9, 14, 19, 24].reduce<Sql>((text, place) => sql`insert(${text}, ${sql.lit(place)}, 0, '-')`, digits);
  return sql`cast(case when length(${column}) = 16 then ${dashed} else ${other} end as char)`;
}

/** The bytes that a text stands for; where nothing is said of the column, the digits that it is shown as too. */
export const digitsOf = (text: string, description: ColumnDescription): string | null =>
  bytesOf(text, description) ?? (description.holds === undefined && /^([0-9a-f]{2})*$/.test(text) ? text : null);

/** Bytes as the text they hold in UTF-8, NULL for any others, of which MariaDB makes question marks; of half a character only in UTF-16. */
export function heldText(bytes: Sql): Sql<string | null> {
  const text = sql`convert(${bytes} using utf8mb4)`;
  const back = sql`cast(convert(convert(${text} using utf16) using utf8mb4) as binary)`;
  return sql`(case when ${back} = ${bytes} and locate(x'00', ${bytes}) = 0 then ${text} end)`;
}

export function typed(value: string, description: ColumnDescription): Sql {
  const { kind, type } = description;
  // MySQL casts a parameter to a signed number first, which loses half of the unsigned range: hence the cast to char.
  if (kind === 'integer') return /unsigned/i.test(type) ? sql`cast(cast(${value} as char) as unsigned)` : sql`cast(${value} as signed)`;
  if (kind === 'boolean') return sql`cast(${/^-?\d+$/.test(value) ? value : String(Number(/^true$/i.test(value)))} as signed)`;
  // Wider than the column on either side of the point, so that no value is cut to fit; a text would be compared as a float.
  if (kind === 'decimal') return /^(float|double)/i.test(type) ? sql`(${value} + 0e0)` : sql`cast(${value} as ${sql.raw(widened(type))})`;
  if (kind === 'binary') return sql`unhex(${digitsOf(value, description) ?? value})`;
  if (kind === 'uuid') return sql`cast(${value} as uuid)`;
  if (kind === 'instant' || kind === 'wall_clock') return sql`cast(${value.includes('T') ? utcText(value) : value} as datetime(6))`;
  if (/^bit/i.test(type)) return sql`cast(cast(${value} as char) as unsigned)`;
  return sql`${value}`;
}

/** The widest type: all the column's digits before the point, and the rest of 65 digits, at most 30, after it. */
function widened(type: string): string {
  const [, digits = '65', places = '0'] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? [];
  return `decimal(65,${String(Math.min(30, 65 - (Number(digits) - Number(places))))})`;
}

const isBit = ({ type }: ColumnDescription): boolean => /^bit/i.test(type);
const isText = (description: ColumnDescription): boolean =>
  description.kind === 'text' || description.kind === 'json' || (description.kind === 'other' && !isBit(description));
const isNumber = (description: ColumnDescription): boolean =>
  description.kind === 'integer' || description.kind === 'decimal' || description.kind === 'boolean' || isBit(description);

/** `Fragments.isOneOf` with parameters. */
export function isOneOf(column: Sql, values: string[], description: ColumnDescription): Sql<boolean> {
  const own = values.map((value) => (isText(description) ? sql`${value}` : typed(value, description)));
  return isText(description) ? textIn(column, own, description) : oneOf(column, own);
}

export function isTrue(column: Sql, description: ColumnDescription, wanted: boolean): Sql<boolean> {
  if (isNumber(description)) return wanted ? sql`${column} <> 0` : sql`${column} = 0`;
  return oneOf(sql`lower(cast(${column} as char))`, TRUTH_WORDS[`${wanted}`].map(sql.lit));
}

/** As `isOneOf`, with literals. Never compares a text with a number: the server would convert one of them. */
export function isLiteral(column: Sql, values: (string | number | boolean)[], description: ColumnDescription | null): Sql<boolean> {
  const asWritten = values.map(String);
  const texts = asWritten.map((value) => sql.lit(value));
  if (description === null ? values.every((value) => typeof value === 'string') : isText(description))
    return textIn(column, texts, description);
  if (description !== null && !isNumber(description)) return isOneOf(column, asWritten, description);
  const numbers = asWritten.map((value) => TRUTH[value] ?? value).filter((value) => NUMBER.test(value));
  if (numbers.length === 0) return sql`false`;
  const given = numbers.map((value) => sql.raw(value));
  const equal = oneOf(column, given);
  if (description === null || !/^float/i.test(description.type)) return equal;
  // A decimal has more digits than a FLOAT holds, so that fractions are never equal: the printed texts are compared too.
  const printed = numbers.map((value) => sql.lit(value));
  return sql`(${equal} or ${oneOf(sql`cast(${column} as char)`, printed)})`;
}

const TRUTH: Record<string, string> = { true: '1', false: '0' };
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Searches the index with the column's collation, then compares the found texts byte by byte. The value is converted to the column's
 * character set; characters it lacks become a question mark, which the byte comparison rules out. MySQL refuses to convert a parameter, but
 * converts what was cast to a text. The converted text gets the default collation of its character set, which cannot be compared with
 * another one: hence COLLATE.
 */
function textIn(column: Sql, values: Sql[], description: ColumnDescription | null): Sql<boolean> {
  const collation = description?.collation ?? null;
  const inOwn = (value: Sql, { charset, name }: { charset: string; name: string }): Sql =>
    sql`convert(cast(${value} as char character set utf8mb4) using ${sql.raw(charset)}) collate ${sql.raw(name)}`;
  const own = collation === null || collation.charset === 'utf8mb4' ? values : values.map((value) => inOwn(value, collation));
  const bytes = values.map((value) => sql`cast(${value} as binary)`);
  return sql`(${oneOf(column, own)} and ${oneOf(sql`cast(cast(${column} as char) as binary)`, bytes)})`;
}
