import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription, TableDescription } from '../engine';
import { fractionDigits, toUtc } from './times';

type Sql<T = unknown> = RawBuilder<T>;

/** Of a long value its length and this much of its beginning are compared: hashing it whole is reading it whole. */
const DIGEST_LIMIT = 65_536;
const LONG_TYPES =
  /^(tiny|medium|long)?(text|blob)|^json|^var(char|binary)\((2[6-9]\d|[3-9]\d\d|\d{4,})\)|^(geometry|point|linestring|polygon|vector)/i;

/**
 * InnoDB rows have no version that can be read, so every column stands in for it: byte by byte, NULL told from the
 * empty text. A time that is kept to the second cannot tell two changes within one: a row changed in the current
 * second gets a version that only this transaction sees, and whoever saw it looks again.
 */
export function rowDigest(alias: string, table: TableDescription, timeZone: string): Sql<string> {
  const columns = [...table.columns.values()].filter((column) => !column.generated);
  const parts = columns.map((column) => guarded(sql.id(alias, column.name), column));
  const coarse = columns.filter((column) => isSecondsOnly(column));
  const fresh = coarse.map((column) => {
    const at = toUtc(sql.id(alias, column.name), column, timeZone);
    return sql`ifnull(${at} >= @outbox_console_now - interval 1 second and ${at} <= @outbox_console_now + interval 2 second, false)`;
  });
  if (fresh.length > 0) parts.push(sql`case when ${sql.join(fresh, sql` or `)} then cast(@outbox_console_now as char) else '' end`);
  return digest(sql.join(parts));
}

/** A digest over the given values and a payload. */
export function digestOf(parts: Sql[], payload: Sql | null): Sql<string> {
  return digest(sql.join([...parts.map((part) => bytes(part)), payload === null ? sql`''` : beginning(payload)]));
}

/** MySQL 9.6 has lost md5 and sha1; this one both servers have, at no higher price. Half of it is as long as they were. */
const digest = (parts: Sql): Sql<string> => sql`left(sha2(concat_ws('|', ${parts}), 256), 32)`;

function guarded(column: Sql, description: ColumnDescription): Sql {
  const { type } = description;
  if (LONG_TYPES.test(type)) return beginning(column);
  // Printed, a FLOAT shows six digits of what it holds; a double shows all.
  if (/^float/i.test(type)) return bytes(sql`(${column} + 0e0)`);
  return bytes(/^bit/i.test(type) ? sql`(${column} + 0)` : column);
}

const bytes = (value: Sql): Sql => sql`ifnull(hex(cast(${value} as binary)), '~')`;
const beginning = (value: Sql): Sql => sql`ifnull(concat(length(${value}), ':', sha2(left(${value}, ${sql.lit(DIGEST_LIMIT)}), 256)), '~')`;

function isSecondsOnly({ kind, type }: ColumnDescription): boolean {
  return (kind === 'instant' || kind === 'wall_clock') && /^(datetime|timestamp)/i.test(type) && fractionDigits(type) === 0;
}
