import { sql } from 'kysely';
import { ageKey, indexLedBy, VALUE_CHARACTERS, type CatalogueReader, type CatalogueTable } from '../catalogue';
import { KIND_BY_TYPE } from './describe';

interface Row {
  schema: string;
  table: string;
  comment: string | null;
  rows: number | null;
  readable: boolean;
  row_security: boolean;
  columns: string;
}

type ColumnRow = [name: string, type: string, base: string, nullable: boolean, generated: boolean, labels: string[] | null];

/** Ranks and offsets come from the catalogue's own indexes on oids; nothing here reads a table of the application. */
async function tables(db: Parameters<CatalogueReader['tables']>[0], limit: number, schema: string | null): Promise<CatalogueTable[]> {
  const named = schema === null ? sql`true` : sql`n.nspname = ${schema}`;
  const { rows } = await sql<Row>`
    select n.nspname as schema, c.relname as table, obj_description(c.oid, 'pg_class') as comment,
      case when c.reltuples >= 0 and c.relkind = 'r' then c.reltuples::float8 end as rows,
      has_schema_privilege(n.oid, 'USAGE') and (has_table_privilege(c.oid, 'SELECT') or has_any_column_privilege(c.oid, 'SELECT')) as readable,
      c.relrowsecurity and row_security_active(c.oid) as row_security,
      (select coalesce(json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod),
          case when t.typtype = 'e' then 'enum' else coalesce(b.typname, t.typname) end, not a.attnotnull, a.attgenerated <> '',
          case when t.typtype = 'e' then (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) end)
        order by a.attnum), '[]')
        from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type b on b.oid = t.typbasetype and t.typtype = 'd'
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)::text as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't' and ${named}
      and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
      and not exists (select from pg_inherits i where i.inhrelid = c.oid)
    order by n.nspname, c.relname limit ${sql.lit(limit)}`.execute(db);
  return rows.map((row) => ({
    name: { schema: row.schema, table: row.table },
    comment: row.comment,
    estimatedRows: row.rows,
    readable: row.readable,
    rowSecurity: row.row_security,
    columns: (JSON.parse(row.columns) as ColumnRow[]).map(([name, type, base, nullable, generated, labels]) => ({
      name,
      type,
      kind: KIND_BY_TYPE[base] ?? 'other',
      nullable,
      generated,
      labels,
    })),
  }));
}

type SampleRow = Record<string, string | null>;

const named = ({ schema, table }: { schema: string | null; table: string }) =>
  sql.join([...(schema === null ? [] : [sql.id(schema)]), sql.id(table)], sql.raw('.'));

export const postgresCatalogue: CatalogueReader = {
  tables,

  // From one value to the next greater one by the index: as many steps as there are values, whatever the number of rows.
  async indexedValues(db, table, column, limit) {
    if (!indexLedBy(table, column)) return null;
    const from = named(table.name);
    const c = sql.ref(column);
    const { rows } = await sql<{ value: string }>`
      with recursive step(value, n) as (
        (select ${c}, 1 from ${from} where ${c} is not null order by ${c} limit 1)
        union all
        select (select ${c} from ${from} where ${c} > step.value order by ${c} limit 1), step.n + 1
          from step where step.value is not null and step.n < ${sql.lit(limit)})
      select left(value::text, ${sql.lit(VALUE_CHARACTERS)}) as value from step where value is not null`.execute(db);
    return rows.map((row) => row.value);
  },

  async commonValues(db, table, column) {
    const { rows } = await sql<{ values: string | null }>`
      select to_json(most_common_vals::text::text[])::text as values from pg_stats
      where schemaname = ${table.name.schema} and tablename = ${table.name.table} and attname = ${column}
      order by inherited desc limit 1`.execute(db);
    const found = rows[0]?.values;
    return found === null || found === undefined ? [] : (JSON.parse(found) as string[]);
  },

  // Distinct with the key: rows that are both among the first and among the last come once.
  async sampleRows(db, table, columns, limit) {
    const chosen = sql.join(
      columns.map((name) => sql`left(${sql.ref(name)}::text, ${sql.lit(VALUE_CHARACTERS)}) as ${sql.ref(name)}`),
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
