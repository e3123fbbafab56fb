import { type RawBuilder, sql } from 'kysely';
import { bytesOf, keepsDecimals, printsAsDigits } from '../column-text';
import { oneOf, TRUTH_WORDS, type Fragments } from '../fragments';
import { type ColumnDescription, tableRef } from '../description';

type Sql<T = unknown> = RawBuilder<T>;

/** JSON with fewer opening brackets than this is not nested too deep for the server's stack. */
const OPENINGS_MAX = 10_000;
/** A surrogate pair, and escapes that no text of the server can hold: NUL and a lone surrogate. */
const PAIR = String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`;
const NO_TEXT = String.raw`\\u(0000|[dD][89a-fA-F])`;

/** UTF-8 as PostgreSQL's texts hold it (no NUL), as pairs of hexadecimal digits. */
const UTF8_DIGITS = String.raw`^(?:0[1-9a-f]|[1-7][0-9a-f]|(?:c[2-9a-f]|d[0-9a-f])[89ab][0-9a-f]|e0[ab][0-9a-f][89ab][0-9a-f]|e[1-9a-cef](?:[89ab][0-9a-f]){2}|ed[89][0-9a-f][89ab][0-9a-f]|f0[9ab][0-9a-f](?:[89ab][0-9a-f]){2}|f[123](?:[89ab][0-9a-f]){3}|f48[0-9a-f](?:[89ab][0-9a-f]){2})*$`;

/** Bytes as the text they hold in UTF-8; NULL for any others, on which a cast fails, and in a database of another encoding. */
const heldText = (bytes: Sql): Sql<string | null> =>
  sql`(case when getdatabaseencoding() = 'UTF8' and encode(${bytes}, 'hex') ~ ${sql.lit(UTF8_DIGITS)} then convert_from(${bytes}, 'UTF8') end)`;

/** A column as text: bytes as what they hold, otherwise as digits after `\x`; so is a text that would look like those. */
function asText(column: Sql, description?: ColumnDescription): Sql<string | null> {
  if (description?.kind !== 'binary' || description.holds === undefined) return sql`(${column})::text`;
  const other = sql`'\\x' || encode(${column}, 'hex')`;
  if (description.holds === 'text')
    return sql`coalesce(case when substring(${column} from 1 for 2) <> '\\x5c78' then ${heldText(column)} end, ${other})`;
  return sql`(case when octet_length(${column}) = 16 then encode(${column}, 'hex')::uuid::text else ${other} end)`;
}

/** A value as the column's type spells it. */
function spelt<T>(value: T, description: ColumnDescription | null): T | string {
  const digits = description?.kind === 'binary' ? bytesOf(String(value), description) : null;
  return digits === null ? value : `\\x${digits}`;
}

const typed = (value: string, description: ColumnDescription): Sql =>
  sql`cast(${spelt(value, description)} as ${sql.raw(castType(comparedAs(description)))})`;

/**
 * JSON may be written by anyone: a row that the server cannot parse must not fail a list. A text is cast to json, not to jsonb, which cannot
 * hold numbers of any length. Bytes become a text once a value.
 */
function whenReadable<T>(column: Sql, description: ColumnDescription, is: 'json' | 'json array', value: (document: Sql) => Sql<T>): Sql<T> {
  const { kind, type } = description;
  if (type === 'jsonb') return sql`(${value(column)})`;
  if (kind === 'binary')
    return sql`(select ${whenReadable(sql`b.t`, { ...description, kind: 'text' }, is, value)} from (select ${heldText(column)} as t offset 0) as b)`;
  const text = sql`(${column})::text`;
  if (kind === 'json') return sql`(case when ${writable(text)} then ${value(column)} end)`;
  const [characters, openings] = [sql.lit(2 * OPENINGS_MAX), sql.lit(OPENINGS_MAX)];
  const shallow = sql`(case when length(${text}) < ${characters} then true else length(${text}) - length(translate(${text}, '[{', '')) < ${openings} end)`;
  const json = sql`(case when ${shallow} then ${text} is ${sql.raw(is)} end)`;
  return sql`(case when ${json} then (case when ${writable(text)} then ${value(sql`${text}::json`)} end) end)`;
}

/** Removes escaped backslashes first: what follows one is no escape. */
function writable(text: Sql): Sql<boolean> {
  const escapes = sql`regexp_replace(replace(${text}, ${sql.lit('\\\\')}, ''), ${sql.lit(PAIR)}, '', 'g')`;
  return sql`(case when position(${sql.lit('\\u')} in ${text}) = 0 then true else ${escapes} !~ ${sql.lit(NO_TEXT)} end)`;
}

const ISO = `YYYY-MM-DD"T"HH24:MI:SS.US"Z"`;
/** Values above this stored size are not hashed whole, as every list would read them: see `valueDigest`. */
const DIGEST_LIMIT_BYTES = 65_536;
/** Types whose length is in the reference to a value that is stored elsewhere (TOAST), compressed or not. */
const TELLS_SIZE = /^(text|character varying|character|bytea)(\(\d+\))?$/;
const tellsSize = ({ type, over }: ColumnDescription): boolean => TELLS_SIZE.test(over ?? type);
/** Assumed size of a compressed document over its stored size: most JSON is four to eight times as large. */
const COMPRESSED_TIMES = 8;

/** ISO 8601 with seconds; a zone may follow. */
const ISO_TEXT = String.raw`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)?$`;
/** Years 1 to 9999 in seconds since the epoch; anything outside is not the time of an event, nor is 0, which stands for none. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800, 253_402_300_799];

function instant(column: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<unknown> {
  const { time, kind } = description;
  if (time === 'epoch_ms' || time === 'epoch_s') return fromEpoch(column, description, time === 'epoch_ms' ? 1_000 : 1);
  if (time === 'iso') return fromIso(column, timeZone);
  return kind === 'wall_clock' ? sql`(${column} at time zone ${sql.lit(zoneOf(description, timeZone))})` : column;
}

const zoneOf = (description: ColumnDescription, timeZone: string): string => (description.time === 'utc' ? 'UTC' : timeZone);

function fromEpoch(column: RawBuilder<unknown>, { kind }: ColumnDescription, perSecond: number): RawBuilder<unknown> {
  const number = kind === 'text' ? sql`(case when ${column} ~ '^-?[0-9]{1,18}(\\.[0-9]+)?$' then (${column})::numeric end)` : column;
  const [least, most] = [FIRST_SECOND * perSecond, LAST_SECOND * perSecond].map((bound) => sql.lit(bound));
  const seconds = perSecond === 1 ? sql`(${number})::float8` : sql`(${number}) / ${sql.raw(`${perSecond}.0`)}`;
  return sql`(case when ${number} between ${least} and ${most} and ${number} <> 0 then to_timestamp(${seconds}) end)`;
}

/** Adds the day to the first of its month, so that a text with a 30th of February fails no list. */
function fromIso(column: RawBuilder<unknown>, timeZone: string): RawBuilder<unknown> {
  const text = sql`(${column})::text`;
  const zoned = sql`${text} ~ '(Z|[+-][0-9]{2}(:?[0-9]{2})?)$'`;
  const first = sql`(left(${text}, 8) || '01' || substr(${text}, 11))`;
  return sql`(case when ${text} ~ ${sql.lit(ISO_TEXT)} then (case when ${zoned} then ${first}::timestamptz else ${first}::timestamp at time zone ${sql.lit(timeZone)} end)
    + make_interval(days => substr(${text}, 9, 2)::int - 1) end)`;
}

function fromInstant(value: RawBuilder<unknown>, description: ColumnDescription, timeZone: string): RawBuilder<unknown> {
  const { time, kind } = description;
  if (time === 'epoch_ms' || time === 'epoch_s') {
    const epoch = sql`extract(epoch from ${value})${sql.raw(time === 'epoch_ms' ? ' * 1000' : '')}`;
    return kind === 'text' ? sql`floor(${epoch})::bigint::text` : kind === 'integer' ? sql`floor(${epoch})::bigint` : sql`(${epoch})`;
  }
  if (time === 'iso') return sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return kind === 'wall_clock' ? sql`(${value} at time zone ${sql.lit(zoneOf(description, timeZone))})` : value;
}

/** Transaction ids wrap around after four thousand million: around that point an order may be wrong for a while. */
const transaction = (column: string): RawBuilder<string> => sql`(${sql.ref(column)}::text)::bigint`;

const row = (parts: Sql[]): Sql => (parts.length === 1 ? sql`${sql.join(parts)}` : sql`(${sql.join(parts)})`);

/** A type name as the catalogue prints it, and nothing else: it goes into SQL unquoted. */
const TYPE_NAME = /^[\w ".[\](),]+$/;

export const postgresFragments: Fragments = {
  asColumn: (value, { type }) => (TYPE_NAME.test(type) ? sql`cast(${value} as ${sql.raw(type)})` : value),
  isoTime(column, description, timeZone) {
    const at = instant(column, description, timeZone);
    if (description.time !== undefined && description.time !== 'utc') return sql`to_char(${at} at time zone 'UTC', ${sql.lit(ISO)})`;
    return sql`case when ${column} between '0001-01-01' and '9999-12-31 23:59:59.999999'
      then to_char(${at} at time zone 'UTC', ${sql.lit(ISO)}) end`;
  },
  instant,
  instantValue: (iso, description, timeZone) => fromInstant(sql`cast(${iso} as timestamptz)`, description, timeZone),
  fromInstant,
  secondsBefore: (value, seconds) => sql`(${value} - make_interval(secs => ${sql.lit(seconds)}))`,
  isTrue(column, description, wanted) {
    if (description.kind === 'boolean') return sql`${column} = ${sql.lit(wanted)}`;
    if (description.kind === 'integer' || description.kind === 'decimal') return wanted ? sql`${column} <> 0` : sql`${column} = 0`;
    if (description.type === 'bit(1)') return wanted ? sql`${column} = B'1'` : sql`${column} = B'0'`;
    return oneOf(sql`lower((${column})::text)`, TRUTH_WORDS[`${wanted}`].map(sql.lit));
  },
  lastElement(column, description) {
    const { type } = description;
    if (type.endsWith('[]')) {
      const element = type.slice(0, -2);
      const own = /^jsonb?$/.test(element) ? 'json' : /timestamp with time/.test(element) ? 'instant' : 'text';
      return { sql: sql`(${column})[array_upper(${column}, 1)]`, description: { ...description, type: element, kind: own } };
    }
    const last = whenReadable(column, description, 'json array', (document) => sql`${document} -> -1`);
    return { sql: last, description: description.kind === 'json' ? description : { ...description, type: 'json', kind: 'json' } };
  },
  asText,
  typed,
  isOneOf(column, values, description) {
    const own = values.map((value) => typed(value, description));
    return asPrinted(oneOf(compared(column, description), own), column, values, description);
  },
  isAnyOf(column, values, description) {
    const list = arrayLiteral(values.map((value) => spelt(value, description)));
    const type = sql.raw(arrayType(comparedAs(description)));
    return asPrinted(sql`${compared(column, description)} = any(cast(${list} as ${type}))`, column, values, description);
  },
  isRowOf(columns, rows) {
    if (columns.some(({ description }) => keepsDecimals(comparedAs(description)))) return null;
    const arrays = columns.map(({ description }, at) => {
      const list = arrayLiteral(rows.map((values) => spelt(values[at] ?? '', description)));
      return sql`cast(${list} as ${sql.raw(arrayType(comparedAs(description)))})`;
    });
    return sql`(${sql.join(columns.map((column) => compared(column.sql, column.description)))}) in (select * from unnest(${sql.join(arrays)}))`;
  },
  rowsOf(columns, rows) {
    const arrays = columns.map((description, at) => {
      const list = arrayLiteral(rows.map((values) => values[at] ?? null));
      return sql`cast(${list} as ${sql.raw(arrayType(description.type))})`;
    });
    return sql`select * from unnest(${sql.join(arrays)})`;
  },
  isLiteral: (column, values, description) =>
    oneOf(
      description === null ? column : compared(column, description),
      // A decimal has more digits than a REAL holds, so that fractions would never be equal.
      values.map((value) => (description?.type === 'real' ? sql`cast(${sql.lit(value)} as real)` : sql.lit(spelt(value, description)))),
    ),
  // A row comparison, which an index of the first key alone serves too.
  beyond: (left, sign, right) => sql`${row(left)} ${sql.raw(sign)} ${row(right)}`,
  ordered: (key, direction, nulls) => sql`${key} ${sql.raw(direction)} nulls ${sql.raw(nulls)}`,
  from: (table, alias) => sql`${tableRef(table)} as ${sql.id(alias)}`,
  deleteFrom: (table, alias) => sql`delete from ${tableRef(table)} as ${sql.id(alias)}`,
  forUpdate: (alias, wait) => sql`for update of ${sql.id(alias)}${sql.raw(wait === 'wait' ? '' : ' skip locked')}`,
  unlessTaken: () => sql`on conflict do nothing`,
  workedOut: () => sql`offset 0`,
  // Rows of a view have no version: a digest of their columns instead.
  rowVersion: (alias, table) =>
    table.kind === 'table'
      ? sql`${sql.ref(`${alias}.xmin`)}::text`
      : sql`md5(concat_ws('|', ${sql.join([...table.columns.values()].map((column) => sql`coalesce(${valueDigest(sql.id(alias, column.name), column)}, '~')`))}))`,
  list: (values, description) =>
    sql`cast(array[${sql.join(values.map((value) => spelt(value, description)))}]::text[] as ${sql.raw(`${castType(description.type)}[]`)})`,
  // xmax keeps the id of a locking transaction after it ended, committed or not.
  // Most rows were never locked: skips the cast by way of text, which costs more than reading the rest of the row.
  rowTouch: (alias) => ({
    written: transaction(`${alias}.xmin`),
    taken: sql`case when ${sql.ref(`${alias}.xmax`)} = 0 then 0 else ${transaction(`${alias}.xmax`)} end`,
  }),
  // `*` leaves out the system column.
  wholeRow: (alias, table) => (table.kind === 'table' ? sql`${sql.ref(alias)}.*, ${sql.ref(`${alias}.xmin`)}` : sql`${sql.ref(alias)}.*`),
  stableDigest(parts, payload, description) {
    const payloadDigest = payload === null ? sql`''` : valueDigest(payload, description);
    const texts = [...parts.map((part) => sql`coalesce((${part})::text, '')`), sql`coalesce(${payloadDigest}, '')`];
    return sql`md5(concat_ws('|', ${sql.join(texts)}))`;
  },
  // NULL also if the document holds escapes that the server cannot decode.
  jsonText(column, path, description) {
    const steps = sql`array[${sql.join(path.map((step) => sql.lit(step)))}]::text[]`;
    return whenReadable(column, description, 'json', (document) => sql<string | null>`${document} #>> ${steps}`);
  },
  indexedTexts(column, name, path) {
    const keys = path.map((step) => sql.lit(step));
    const last = keys.pop() ?? sql`''`;
    const chain = sql.join([column, ...keys.map((key) => sql`-> ${key}`), sql`->> ${last}`], sql` `);
    return {
      [[name, ...path].join('->').replace(/->(?=\w+$)/, '->>')]: sql`(${chain})`,
      [`${name}#>>{${path.join(',')}}`]: sql`(${column} #>> array[${sql.join([...keys, last])}]::text[])`,
    };
  },
  sizeBytes: (column, description) =>
    tellsSize(description)
      ? sql`octet_length(${column})`
      : sql`(pg_column_size(${column})::bigint * case when pg_column_compression(${column}) is null then 1 else ${sql.lit(COMPRESSED_TIMES)} end)`,
  tellsSize,
  head: (column, description, characters) =>
    printsAsDigits(description)
      ? sql`encode(substring(${column} from 1 for ${sql.lit(Math.floor(characters / 2))}), 'hex')`
      : sql`left(${asText(column, description)}, ${sql.lit(characters)})`,
  rowAsJson: (columns) =>
    sql`json_build_object(${sql.join(columns.flatMap(({ name, column, description }) => [sql`${sql.lit(name)}::text`, asText(column, description)]))})::text`,
  contains: (column, needle) => sql`(${column})::text ilike ${`%${needle.replace(/[\\%_]/g, '\\$&')}%`}`,
  notTrue: (condition) => sql`(${condition}) is not true`,
  now: () => sql`now()`,
  nowFor: (description, timeZone) => fromInstant(sql`now()`, description, timeZone),
  nowIso: () => sql`to_char(clock_timestamp() at time zone 'UTC', ${sql.lit(ISO)})`,
  // date_part() rather than extract(): the latter computes in numeric, at three times the cost.
  millisecondsBetween: (from, to) => sql`(date_part('epoch', ${to} - ${from}) * 1000)`,
  nothing: (kind) => sql`cast(null as ${sql.raw({ instant: 'timestamptz', text: 'text', integer: 'bigint', float: 'float8' }[kind])})`,
  sane: (value) =>
    sql`case when ${value} >= timestamptz '0001-01-02 00:00:00+00' and ${value} < timestamptz '9999-12-30 00:00:00+00' then ${value} end`,
  instantOf: (iso) => sql`cast(${iso} as timestamptz)`,
  instantText: (value) => sql`to_char(${value} at time zone 'UTC', ${sql.lit(ISO)})`,
  epochMs: (value) => sql`(date_part('epoch', ${value}) * 1000)`,
  epochSteps: (value, seconds) => sql`floor(date_part('epoch', ${value}) / ${sql.lit(seconds)})::int`,
  float: (value) => sql`(${value})::float8`,
  integer: (value) => sql`(${value})::bigint`,
  shortInteger: (value) => sql`(${value})::int`,
  // The console's column has the default collation; the text may have another.
  isText: (column, text) => sql`${column} = (${text}) collate "default"`,
  bytewise: (text) => sql`${text} collate "C"`,
  hidesRows(tables) {
    if (tables.length === 0) return sql`false`;
    const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
    const oids = tables.map(({ schema, table }) => {
      const names = schema === null ? [table] : [schema, table];
      return sql`${sql.lit(names.map(quoted).join('.'))}::regclass`;
    });
    const applies = sql`p.polcmd in ('r', '*') and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as r(role) where r.role <> 0 and pg_has_role(r.role, 'USAGE')))`;
    const all = sql`pg_get_expr(p.polqual, p.polrelid) = 'true'`;
    // Counts, because for EXISTS PostgreSQL may read the whole catalogue once.
    return sql`exists (select from unnest(array[${sql.join(oids)}]) as t(oid) where row_security_active(t.oid)
      and (select count(*) filter (where p.polpermissive and ${all}) = 0 or count(*) filter (where not p.polpermissive and ${all} is not true) > 0
        from pg_policy p where p.polrelid = t.oid and ${applies}))`;
  },
};

/** Digest of a value; above 64 kB stored, its size, and a digest of its beginning if the type is read in slices, as JSON is not. */
function valueDigest(value: RawBuilder<unknown>, description: ColumnDescription | undefined): RawBuilder<string | null> {
  const sliced = description !== undefined && tellsSize(description);
  const beginning = sliced
    ? sql` || ':' || octet_length(${value}) || ':' || md5(substring(${value} from 1 for ${sql.lit(DIGEST_LIMIT_BYTES)}))`
    : sql``;
  return sql`case when pg_column_size(${value}) <= ${sql.lit(DIGEST_LIMIT_BYTES)} then md5((${value})::text) else 'size:' || pg_column_size(${value})${beginning} end`;
}

/** Compares texts too where equal values may print differently; the values themselves only find them. */
function asPrinted(equal: Sql<boolean>, column: Sql, values: string[], description: ColumnDescription): Sql<boolean> {
  if (!keepsDecimals(comparedAs(description))) return equal;
  return sql`(${equal} and (${column})::text = any(cast(${arrayLiteral(values)} as text[])))`;
}

const comparedAs = ({ over, type }: ColumnDescription): string => over ?? type;

const compared = (column: RawBuilder<unknown>, { over }: ColumnDescription): RawBuilder<unknown> =>
  over === undefined ? column : sql`(${column})::${sql.raw(castType(over))}`;

/** The array type without a length, to which a cast would cut a value; `character` alone means one character. */
function arrayType(type: string): string {
  const bare = castType(type);
  return `${bare === 'character' ? 'bpchar' : bare}[]`;
}

const arrayLiteral = (values: (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;

/** The type as the catalogue spells it, without a length: a cast must never cut an id to fit. */
function castType(type: string): string {
  const bare = type.replace(/\(\d+(,\d+)?\)/, '');
  // The catalogue quotes names that are not plain words.
  return /^([a-zA-Z0-9_ .[\]]|"([^"]|"")*")+$/.test(bare) ? bare : 'text';
}
