import { type RawBuilder, sql } from 'kysely';
import { printsAsDigits } from '../column-text';
import type { Fragments } from '../fragments';
import { type ColumnDescription, type TableDescription, tableRef } from '../description';
import { EPOCH, fractionDigits, fromUtc, isRealDate, toUtc, utcText } from './times';
import { asText, isLiteral, isOneOf, isTrue, typed, heldText } from './values';

type Sql<T = unknown> = RawBuilder<T>;

/** A long value is compared by its length and this many leading characters (or bytes): hashing all of it would read all of it. */
const DIGEST_LIMIT = 65_536;
const LONG_TYPES =
  /^(tiny|medium|long)?(text|blob)|^json|^var(char|binary)\((2[6-9]\d|[3-9]\d\d|\d{4,})\)|^(geometry|point|linestring|polygon|vector)/i;

/**
 * InnoDB exposes no row version, so this is a digest of every column: byte by byte, NULL distinct from the empty text. A time in whole
 * seconds does not show two changes within one second: a row changed in the current second gets a version that no other transaction
 * computes, so that an operator who saw it has to reload.
 */
function rowDigest(alias: string, table: TableDescription, timeZone: string): Sql<string> {
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

/** MySQL 9.6 has no md5() and sha1(); both servers have sha2(), at the same cost. Half of it is as long as an MD5. */
const digest = (parts: Sql): Sql<string> => sql`left(sha2(concat_ws('|', ${parts}), 256), 32)`;

function guarded(column: Sql, description: ColumnDescription): Sql {
  const { type } = description;
  if (LONG_TYPES.test(type)) return beginning(column);
  // A FLOAT prints six digits of what it holds; a double prints all.
  if (/^float/i.test(type)) return bytes(sql`(${column} + 0e0)`);
  return bytes(/^bit/i.test(type) ? sql`(${column} + 0)` : column);
}

const bytes = (value: Sql): Sql => sql`ifnull(hex(cast(${value} as binary)), '~')`;
const beginning = (value: Sql): Sql => sql`ifnull(concat(length(${value}), ':', sha2(left(${value}, ${sql.lit(DIGEST_LIMIT)}), 256)), '~')`;

const isSecondsOnly = ({ kind, type }: ColumnDescription): boolean =>
  (kind === 'instant' || kind === 'wall_clock') && /^(datetime|timestamp)/i.test(type) && fractionDigits(type) === 0;

/** On these days a time zone's offset can lead out of the calendar, to NULL: read as UTC, as bounds are not meant to the hour there. */
const END_OF_CALENDAR = /^(0001-01-01|9999-12-31)/;
const ISO = '%Y-%m-%dT%H:%i:%s.%fZ';

/**
 * NULL for a text that is no JSON: reading a path of it would fail the statement. MySQL also fails on JSON nested deeper than 100 levels;
 * the connection then sets the most brackets that a text may open (`MysqlConnection`).
 */
function validJson(column: RawBuilder<unknown>, { kind }: ColumnDescription): RawBuilder<unknown> {
  if (kind === 'json') return column;
  const opened = sql`char_length(${column}) - char_length(replace(replace(${column}, '[', ''), '{', ''))`;
  const text = kind === 'binary' ? sql`convert(${column} using utf8mb4)` : column;
  // Of bytes the text is asked once: each look converts the whole value three times.
  const valid = kind === 'binary' ? sql`(${heldText(column)} is not null and json_valid(${text}))` : sql`json_valid(${column})`;
  return sql`(case when case when @outbox_console_brackets is null or ${opened} <= @outbox_console_brackets then ${valid} end then ${text} end)`;
}

export const mysqlFragments: Fragments = {
  asColumn(value, { type }) {
    if (/^(datetime|timestamp)/i.test(type)) return sql`cast(${value} as datetime(${sql.raw(/\((\d)\)/.exec(type)?.[1] ?? '0')}))`;
    return /^decimal\(\d+,\d+\)$/i.test(type) ? sql`cast(${value} as ${sql.raw(type)})` : value;
  },
  isoTime(column, description, timeZone) {
    if (description.time !== undefined && description.time !== 'utc')
      return sql`date_format(${toUtc(column, description, timeZone)}, ${sql.lit(ISO)})`;
    return sql`case when ${isRealDate(column)} then date_format(${toUtc(column, description, timeZone)}, ${sql.lit(ISO)}) end`;
  },
  instant: toUtc,
  instantValue: (iso, description, timeZone) =>
    fromUtc(sql`cast(${utcText(iso)} as datetime(6))`, description, END_OF_CALENDAR.test(iso) ? 'UTC' : timeZone),
  fromInstant: fromUtc,
  secondsBefore: (value, seconds) => sql`(${value} - interval ${sql.lit(seconds)} second)`,
  isTrue,
  // To MySQL anything but an array is an array of one, hence the check of its type, and a negative index is an error.
  lastElement(column, description) {
    const json = validJson(column, description);
    const last = sql`json_extract(${json}, concat('$[', greatest(json_length(${json}) - 1, 0), ']'))`;
    return {
      sql: sql`case when json_type(${json}) = 'ARRAY' then ${last} end`,
      description: { ...description, kind: 'json', type: 'json' },
    };
  },
  list: (values) => sql`json_array(${sql.join(values)})`,
  asText,
  typed,
  isOneOf,
  isAnyOf: () => null,
  isRowOf: () => null,
  rowsOf(columns, rows) {
    const value = (text: string | null, column: ColumnDescription): Sql =>
      text === null ? sql`null` : column.kind === 'text' ? sql`${text}` : mysqlFragments.typed(text, column);
    return sql`values ${sql.join(rows.map((values) => sql`(${sql.join(columns.map((column, at) => value(values[at] ?? null, column)))})`))}`;
  },
  isLiteral,
  // No index serves a row comparison here: the first key is also compared by itself.
  beyond([key, ...keys], sign, [value, ...values]) {
    if (key === undefined || keys.length === 0) return sql`${key ?? sql`null`} ${sql.raw(sign)} ${value ?? sql`null`}`;
    const strict = sql.raw(sign.slice(0, 1));
    return sql`(${key} ${sql.raw(`${sign.slice(0, 1)}=`)} ${value} and (${key} ${strict} ${value} or ${mysqlFragments.beyond(keys, sign, values)}))`;
  },
  // NULLs sort first in ascending order, in an index too.
  ordered(key, direction, nulls) {
    const natural = (direction === 'asc') === (nulls === 'first');
    const way = sql.raw(direction);
    return natural ? sql`${key} ${way}` : sql`${key} is null ${sql.raw(nulls === 'last' ? 'asc' : 'desc')}, ${key} ${way}`;
  },
  from: (table, alias, index = null) =>
    sql`${tableRef(table)} as ${sql.id(alias)}${index === null ? sql`` : sql` force index (${sql.id(index)})`}`,
  // Only newer servers take an alias in the single-table form.
  deleteFrom: (table, alias) => sql`delete ${sql.id(alias)} from ${tableRef(table)} as ${sql.id(alias)}`,
  forUpdate: (_alias, wait) => sql.raw(`for update${wait === 'wait' ? '' : ' skip locked'}`),
  unlessTaken: () => sql``,
  // No limit in effect, but a subquery with LIMIT is never merged into the outer query.
  workedOut: () => sql`limit 18446744073709551615`,
  rowVersion: rowDigest,
  rowTouch: () => null,
  // By name, as `*` leaves out invisible columns.
  wholeRow: (alias, table) => sql.join([...table.columns.keys()].map((name) => sql.id(alias, name))),
  stableDigest: (parts, payload) => digest(sql.join([...parts.map(bytes), payload === null ? sql`''` : beginning(payload)])),
  jsonText(column, path, description, loosely = false) {
    // A step of digits may be a key or an array index; JSON null becomes NULL.
    const paths = path.reduce<string[]>((before, step) => before.flatMap((one) => stepsOf(step).map((next) => one + next)), ['$']);
    const found = paths.map((one) => sql`json_extract(${validJson(column, description)}, ${sql.lit(one)})`);
    const value = found.length === 1 ? sql`${found[0]}` : sql`coalesce(${sql.join(found)})`;
    const text = sql<string>`case when json_type(${value}) <> 'NULL' then json_unquote(${value}) end`;
    if (found.length > 1) return text;
    // To MySQL a comment. MariaDB finds a scalar so in a sixth of the time; true and false would be 1 and 0.
    const scalar = sql`json_value(${validJson(column, description)}, ${sql.lit(paths[0])})`;
    const quick = loosely ? scalar : sql`case when ${scalar} not in ('0', '1') then ${scalar} end`;
    return sql`coalesce(/*M! ${quick}, */ ${text})`;
  },
  // Named through the generated column that has it: only newer servers see that the two are one.
  indexedTexts(column, name, path) {
    const at = ['$', ...path].join('.');
    const text = sql<string>`json_unquote(json_extract(${column}, ${sql.lit(at)}))`;
    return { [`json_unquotejson_extract${name},${at}`]: text, [`json_value${name},${at}`]: text };
  },
  // length() of a JSON document would write out its text first.
  sizeBytes: (column, { type }) => (type === 'json' ? sql`json_storage_size(${column})` : sql`length(${column})`),
  tellsSize: ({ type }) => type !== 'json',
  head(column, description, characters) {
    const first = (value: Sql, most = characters): Sql<string | null> => sql`left(${value}, ${sql.lit(most)})`;
    if (printsAsDigits(description)) return sql`lower(hex(${first(column, Math.floor(characters / 2))}))`;
    if (description.kind !== 'text') return first(asText(column, description));
    // Of a text only what is shown is converted, and nothing where it need not be: that takes longer than reading it.
    return description.collation?.charset === 'utf8mb4' ? sql`${first(column)} collate utf8mb4_bin` : asText(first(column));
  },
  rowAsJson: (columns) =>
    sql`json_object(${sql.join(columns.flatMap(({ name, column, description }) => [sql.lit(name), asText(column, description)]))})`,
  contains: (column, needle) => sql`(instr(lower(cast(${column} as char)), lower(${needle})) > 0)`,
  notTrue: (condition) => sql`((${condition}) is not true)`,
  now: () => sql`utc_timestamp(6)`,
  nowFor(description, timeZone) {
    const digits = fractionDigits(description.type);
    const whole = description.kind === 'instant' || description.kind === 'wall_clock';
    return fromUtc(sql`utc_timestamp(${sql.lit(whole ? digits : 6)})`, description, timeZone);
  },
  nowIso: () => sql`date_format(utc_timestamp(6), ${sql.lit(ISO)})`,
  millisecondsBetween: (from, to) => sql`(timestampdiff(microsecond, ${from}, ${to}) / 1e3)`,
  nothing: (kind) =>
    kind === 'float' ? sql`(null + 0e0)` : sql`cast(null as ${sql.raw({ instant: 'datetime(6)', text: 'char', integer: 'signed' }[kind])})`,
  sane: (value) => sql`(case when ${isRealDate(value)} then ${value} end)`,
  instantOf: (iso) => sql`cast(${utcText(iso)} as datetime(6))`,
  instantText: (value) => sql`date_format(${value}, ${sql.lit(ISO)})`,
  epochMs: (value) => sql`(timestampdiff(microsecond, ${EPOCH}, ${value}) / 1e3)`,
  // Dividing integers gives a decimal, whose floor is exact.
  epochSteps: (value, seconds) =>
    sql`cast(floor(timestampdiff(microsecond, ${EPOCH}, ${value}) / ${sql.lit(seconds * 1_000_000)}) as signed)`,
  float: (value) => sql`((${value}) + 0e0)`,
  integer: (value) => sql`cast(${value} as signed)`,
  shortInteger: (value) => sql`cast(${value} as signed)`,
  // A collation ignores trailing spaces.
  isText: (column, text) =>
    sql`(${column} = ${mysqlFragments.bytewise(text)} and octet_length(${column}) = octet_length(${mysqlFragments.bytewise(text)}))`,
  bytewise: (text) => sql`(convert(${text} using utf8mb4) collate utf8mb4_bin)`,
  hidesRows: () => sql`false`,
};

/** JSON path forms of one step: an object key, and an array index if it can be one. */
function stepsOf(step: string): string[] {
  const name = `.${JSON.stringify(step)}`;
  return /^(0|[1-9]\d{0,8})$/.test(step) ? [name, `[${step}]`] : [name];
}
