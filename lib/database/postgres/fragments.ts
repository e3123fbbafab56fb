import { sql, type RawBuilder } from 'kysely';
import { tableRef } from '../table-ref';
import type { ColumnDescription, Fragments } from '../engine';

const ISO = `YYYY-MM-DD"T"HH24:MI:SS.US"Z"`;
/** Payloads above this stored size are told apart by size alone: hashing them would read them whole for every list. */
const DIGEST_LIMIT_BYTES = 65_536;

function instant(column: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<unknown> {
  return description.kind === 'wall_clock' ? sql`(${column} at time zone ${sql.lit(timeZone)})` : column;
}

/** Numbers wrap around after four thousand million transactions: around that moment an order may be wrong for a while. */
const transaction = (column: string): RawBuilder<string> => sql`(${sql.ref(column)}::text)::bigint`;

export const postgresFragments: Fragments = {
  isoTime(column, description, timeZone) {
    const at = instant(column, description, timeZone);
    return sql`case when isfinite(${column}) and extract(year from ${column}) between 1 and 9999
      then to_char(${at} at time zone 'UTC', ${sql.lit(ISO)}) end`;
  },
  instant,
  instantValue(iso, description, timeZone) {
    return description.kind === 'wall_clock'
      ? sql`(cast(${iso} as timestamptz) at time zone ${sql.lit(timeZone)})`
      : sql`cast(${iso} as timestamptz)`;
  },
  asText: (column) => sql`(${column})::text`,
  typed: (value, description) => sql`cast(${value} as ${sql.raw(castType(description.type))})`,
  textValue: (value) => sql`cast(${value} as text)`,
  isOneOf: (column, values, description) =>
    oneOf(
      column,
      values.map((value) => sql`cast(${value} as ${sql.raw(castType(description.type))})`),
    ),
  isLiteral: (column, values) =>
    oneOf(
      column,
      values.map((value) => sql.lit(value)),
    ),
  // Compared as a row, which the index of the first key alone serves too.
  beyond: (left, sign, right) => sql`(${sql.join(left)}) ${sql.raw(sign)} (${sql.join(right)})`,
  ordered: (key, direction, nulls) => sql`${key} ${sql.raw(direction === 'descending' ? 'desc' : 'asc')} nulls ${sql.raw(nulls)}`,
  from: (table, alias) => sql`${tableRef(table)} as ${sql.id(alias)}`,
  deleteFrom: (table, alias) => sql`delete from ${tableRef(table)} as ${sql.id(alias)}`,
  forUpdate: (alias, wait) => sql`for update of ${sql.id(alias)}${sql.raw(wait === 'wait' ? '' : ' skip locked')}`,
  unlessTaken: () => sql`on conflict do nothing`,
  // A view has no row of its own: there, what it shows is compared.
  rowVersion: (alias, table) =>
    table.kind === 'table'
      ? sql`${sql.ref(`${alias}.xmin`)}::text`
      : sql`md5(concat_ws('|', ${sql.join([...table.columns.keys()].map((name) => sql`coalesce(md5(left((${sql.id(alias, name)})::text, ${sql.lit(DIGEST_LIMIT_BYTES)})), '~')`))}))`,
  // A lock's number stays in xmax after the transaction has ended, whatever became of it.
  rowTouch: (alias) => ({ written: transaction(`${alias}.xmin`), taken: transaction(`${alias}.xmax`) }),
  // The system column has to be named: * leaves it out.
  wholeRow: (alias, table) => (table.kind === 'table' ? sql`${sql.ref(alias)}.*, ${sql.ref(`${alias}.xmin`)}` : sql`${sql.ref(alias)}.*`),
  stableDigest(parts, payload) {
    const payloadDigest =
      payload === null
        ? sql`''`
        : sql`case when pg_column_size(${payload}) <= ${sql.lit(DIGEST_LIMIT_BYTES)} then md5((${payload})::text) else 'size:' || pg_column_size(${payload}) end`;
    const texts = [...parts.map((part) => sql`coalesce((${part})::text, '')`), sql`coalesce(${payloadDigest}, '')`];
    return sql`md5(concat_ws('|', ${sql.join(texts)}))`;
  },
  jsonText: (column, path) => sql`(${column} #>> array[${sql.join(path.map((step) => sql.lit(step)))}]::text[])`,
  storedBytes: (column) => sql`pg_column_size(${column})`,
  textBytes: (column) => sql`octet_length((${column})::text)`,
  head: (column, description, characters) =>
    description.kind === 'binary'
      ? sql`encode(substring(${column} from 1 for ${sql.lit(Math.floor(characters / 2))}), 'hex')`
      : sql`left((${column})::text, ${sql.lit(characters)})`,
  rowAsJson: (columns) =>
    sql`json_build_object(${sql.join(columns.flatMap(({ name, column }) => [sql`${sql.lit(name)}::text`, sql`(${column})::text`]))})::text`,
  contains: (column, needle) => sql`(${column})::text ilike ${`%${needle.replace(/[\\%_]/g, '\\$&')}%`}`,
  distinctFrom: (left, right) => sql`${left} is distinct from ${right}`,
  notTrue: (condition) => sql`(${condition}) is not true`,
  now: () => sql`now()`,
  nowFor: (description, timeZone) => (description.kind === 'wall_clock' ? sql`(now() at time zone ${sql.lit(timeZone)})` : sql`now()`),
  nowIso: () => sql`to_char(clock_timestamp() at time zone 'UTC', ${sql.lit(ISO)})`,
  millisecondsBetween: (from, to) => sql`(extract(epoch from (${to} - ${from}))::float8 * 1000)`,
  secondsAgo: (seconds) => sql`(now() - make_interval(secs => ${sql.lit(seconds)}))`,
};

const oneOf = (column: RawBuilder<unknown>, values: RawBuilder<unknown>[]): RawBuilder<boolean> =>
  values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} in (${sql.join(values)})`;

/** The catalogue's own spelling of a type, without a length: a cast must never cut an id to fit. */
function castType(type: string): string {
  const bare = type.replace(/\(\d+(,\d+)?\)/, '');
  return /^[a-zA-Z0-9_ ".[\]]+$/.test(bare) ? bare : 'text';
}
