import { sql } from 'kysely';
import { indexLedBy, sampler, shortened, type CatalogueColumn, type CatalogueReader, type CatalogueTable } from '../catalogue';
import { tableRef } from '../description';
import { KIND_BY_TYPE } from './describe';

/** Where names without a schema are looked up, whatever the role's search path says. */
export const DEFAULT_SCHEMA = 'public';

export const postgresCatalogue: CatalogueReader = {
  // Served by the catalogue's indexes on oids; reads no table of the application.
  async tables(db, limit, schema) {
    const named = schema === null ? sql`true` : sql`n.nspname = ${schema}`;
    const { rows } = await sql<Omit<CatalogueTable, 'name' | 'home' | 'columns'> & Record<'schema' | 'table' | 'columns', string>>`
      select n.nspname as schema, c.relname as table, obj_description(c.oid, 'pg_class') as comment,
        case when c.reltuples >= 0 and c.relkind = 'r' then c.reltuples::float8 end as "estimatedRows",
        has_schema_privilege(n.oid, 'USAGE') and (has_table_privilege(c.oid, 'SELECT') or has_any_column_privilege(c.oid, 'SELECT')) as readable,
        c.relrowsecurity and row_security_active(c.oid) as "rowSecurity",
        (select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
            'base', case when t.typtype = 'e' then 'enum' else coalesce(b.typname, t.typname) end, 'nullable', not a.attnotnull, 'generated', a.attgenerated <> '',
            'labels', case when t.typtype = 'e' then (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) end)
          order by a.attnum), '[]')
          from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type b on b.oid = t.typbasetype and t.typtype = 'd'
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)::text as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't' and ${named}
        and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
        and not exists (select from pg_inherits i where i.inhrelid = c.oid)
      order by n.nspname, c.relname limit ${sql.lit(limit)}`.execute(db);
    return rows.map(({ schema: own, table, columns, ...row }) => ({
      ...row,
      name: { schema: own, table },
      home: own === DEFAULT_SCHEMA,
      columns: (JSON.parse(columns) as (CatalogueColumn & { base: string })[]).map(({ base, ...column }) => ({
        ...column,
        kind: KIND_BY_TYPE[base] ?? 'other',
      })),
    }));
  },

  // Goes from one value to the next greater one by the index: as many steps as distinct values, whatever the number of rows.
  async indexedValues(db, table, column, limit) {
    if (!indexLedBy(table, column)) return null;
    const from = tableRef(table.name);
    const c = sql.ref(column);
    const { rows } = await sql<{ value: string }>`
      with recursive step(value, n) as (
        (select ${c}, 1 from ${from} where ${c} is not null order by ${c} limit 1)
        union all
        select (select ${c} from ${from} where ${c} > step.value order by ${c} limit 1), step.n + 1
          from step where step.value is not null and step.n < ${sql.lit(limit)})
      select ${shortened(sql`value::text`)} as value from step where value is not null`.execute(db);
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

  sampleRows: sampler((column) => sql`${column}::text`),
};
