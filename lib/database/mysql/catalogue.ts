import { sql } from 'kysely';
import { ageKey, indexLedBy, VALUE_CHARACTERS, type CatalogueColumn, type CatalogueReader, type CatalogueTable } from '../catalogue';
import { KIND_BY_TYPE, labelsOf } from './describe';

interface Row {
  s: string;
  t: string;
  comment: string | null;
  n: string | number | null;
}

interface ColumnRow {
  s: string;
  t: string;
  name: string;
  type: string;
  base: string;
  nullable: string;
  extra: string;
}

const SYSTEM = ['mysql', 'information_schema', 'performance_schema', 'sys'];

const kindOf = ({ type, base }: ColumnRow): CatalogueColumn['kind'] =>
  /^(tinyint|bit)\(1\)/.test(type) ? 'boolean' : (KIND_BY_TYPE[base.toLowerCase()] ?? 'other');

/** Two statements: MariaDB cuts what is aggregated into one text. The server shows only what the role may see. */
async function tables(db: Parameters<CatalogueReader['tables']>[0], limit: number, schema: string | null): Promise<CatalogueTable[]> {
  const where = (column: string) =>
    schema === null
      ? sql`${sql.ref(column)} not in (${sql.join(SYSTEM.map((name) => sql.lit(name)))})`
      : sql`${sql.ref(column)} = ${schema}`;
  const { rows } = await sql<Row>`
    select table_schema as s, table_name as t, nullif(table_comment, '') as comment, table_rows as n from information_schema.tables
    where table_type = 'BASE TABLE' and ${where('table_schema')} order by table_schema, table_name limit ${sql.lit(limit)}`.execute(db);
  const columns = await sql<ColumnRow>`
    select table_schema as s, table_name as t, column_name as name, column_type as type, data_type as base, is_nullable as nullable, extra as extra
    from information_schema.columns where ${where('table_schema')} order by table_schema, table_name, ordinal_position`.execute(db);
  const byTable = new Map<string, CatalogueColumn[]>();
  for (const row of columns.rows) {
    const key = `${row.s}\u0000${row.t}`;
    const column = {
      name: row.name,
      type: row.type,
      kind: kindOf(row),
      nullable: row.nullable === 'YES',
      generated: /GENERATED/i.test(row.extra) && !/DEFAULT_GENERATED/i.test(row.extra),
      labels: labelsOf(row.type),
    };
    const known = byTable.get(key);
    if (known === undefined) byTable.set(key, [column]);
    else known.push(column);
  }
  return rows.map((row) => ({
    name: { schema: row.s, table: row.t },
    comment: row.comment,
    estimatedRows: row.n === null ? null : Number(row.n),
    readable: true,
    rowSecurity: false,
    columns: byTable.get(`${row.s}\u0000${row.t}`) ?? [],
  }));
}

type SampleRow = Record<string, string | null>;

const named = ({ schema, table }: { schema: string | null; table: string }) =>
  sql.join([...(schema === null ? [] : [sql.id(schema)]), sql.id(table)], sql.raw('.'));

const asText = (name: string) => sql`left(cast(${sql.ref(name)} as char), ${sql.lit(VALUE_CHARACTERS)})`;

export const mysqlCatalogue: CatalogueReader = {
  tables,

  // Grouping by the first column of an index skips from value to value in it.
  async indexedValues(db, table, column, limit) {
    if (!indexLedBy(table, column)) return null;
    const { rows } = await sql<{ value: string }>`
      select left(cast(v as char), ${sql.lit(VALUE_CHARACTERS)}) as value from (select ${sql.ref(column)} as v from ${named(table.name)}
      where ${sql.ref(column)} is not null group by ${sql.ref(column)} order by ${sql.ref(column)} limit ${sql.lit(limit)}) as found`.execute(
      db,
    );
    return rows.map((row) => row.value);
  },

  // Histograms are made by hand there, and in another form by every server: the sample has to do.
  commonValues: () => Promise.resolve([]),

  // Distinct with the key: rows that are both among the first and among the last come once.
  async sampleRows(db, table, columns, limit) {
    const chosen = sql.join(
      columns.map((name) => sql`${asText(name)} as ${sql.ref(name)}`),
      sql`, `,
    );
    const from = named(table.name);
    const key = ageKey(table);
    if (key === null) return (await sql<SampleRow>`select ${chosen} from ${from} limit ${sql.lit(limit)}`.execute(db)).rows;
    const half = (way: 'asc' | 'desc') =>
      sql`(select ${sql.ref(key)} as oc_key, ${chosen} from ${from} order by ${sql.ref(key)} ${sql.raw(way)} limit ${sql.lit(Math.ceil(limit / 2))})`;
    return (await sql<SampleRow>`${half('asc')} union ${half('desc')}`.execute(db)).rows;
  },
};
