import { type RawBuilder, sql } from 'kysely';
import type { ChangeCounts, TableSize } from '../engine';
import { type ColumnDescription, type Db, type IndexDescription, type TableDescription, type TableName, tableRef } from '../description';

export const KIND_BY_TYPE: Record<string, ColumnDescription['kind']> = {
  text: 'text', varchar: 'text', bpchar: 'text', name: 'text', citext: 'text', enum: 'text',
  int2: 'integer', int4: 'integer', int8: 'integer', numeric: 'decimal', float4: 'decimal', float8: 'decimal',
  bool: 'boolean', uuid: 'uuid', json: 'json', jsonb: 'json', bytea: 'binary',
  timestamptz: 'instant', timestamp: 'wall_clock', date: 'wall_clock',
}; // prettier-ignore

/** Assumed rows per page of a table never analyzed: more than outboxes have, so that a large table does not seem small. */
export const UNCOUNTED_ROWS_PER_PAGE = 60;

/** Characters of the table's name that every name of an index for it begins with. */
const NAMESAKE_CHARACTERS = 12;
const NAMESAKES = 1_000;

interface ColumnRow extends Omit<ColumnDescription, 'kind' | 'labels' | 'over'> {
  base: string;
  labels: string[] | null;
  over: string | null;
  update: boolean;
}

type IndexRow = Omit<IndexDescription, 'sorted' | 'expression'> & { options: number[] | null; expression: string | null };

type CatalogueRow = Record<'schema' | 'table' | 'relkind' | 'columns' | 'indexes' | 'notifies' | 'namesakes', string> &
  Record<'can_select' | 'can_insert' | 'can_delete', boolean> & { partitions: string | null; estimated_rows: number | null };

/** One statement on the catalogue, served by its indexes on names and oids; locks nothing. */
export async function describePostgresTable(db: Db, name: TableName): Promise<TableDescription | null> {
  // By name, as to_regclass() fails if the role has no USAGE on the schema.
  const named = name.schema === null ? sql`pg_table_is_visible(c.oid)` : sql`n.nspname = ${name.schema}`;
  // The server turns a LIKE pattern it knows when planning into a range of the index, in any encoding.
  const letters = [...name.table].slice(0, NAMESAKE_CHARACTERS).join('');
  const beginning = `${letters.replace(/[\\%_]/g, '\\$&')}%`;
  const { rows } = await sql<CatalogueRow>`
    select n.nspname as schema, c.relname as table, c.relkind::text as relkind,
      (select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
          'base', case when 'e' in (t.typtype, b.typtype) then 'enum' else coalesce(b.typname, t.typname) end, 'nullable', not a.attnotnull,
          'labels', case when 'e' in (t.typtype, b.typtype) then (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = coalesce(b.oid, t.oid)) end,
          'over', case when b.typtype in ('b', 'e') then format_type(b.oid, t.typtypmod) end,
          'generated', a.attgenerated <> '', 'update', has_column_privilege(c.oid, a.attnum, 'UPDATE')) order by a.attnum), '[]')
        from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type b on b.oid = t.typbasetype and t.typtype = 'd'
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)::text as columns,
      (select coalesce(json_agg(json_build_object('name', i.relname, 'method', m.amname, 'unique', x.indisunique and x.indimmediate, 'predicate', pg_get_expr(x.indpred, x.indrelid),
          'columns', (select json_agg(coalesce(a.attname, '') order by k.position) from unnest(x.indkey::int2[]) with ordinality as k(attnum, position)
            left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum and k.attnum > 0 where k.position <= x.indnkeyatts),
          'expression', case when x.indkey[0] = 0 then pg_get_indexdef(i.oid, 1, true) end, 'options', case when m.amname = 'btree' then x.indoption::int2[] end)), '[]')
        from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am m on m.oid = i.relam where x.indrelid = c.oid and x.indisvalid)::text as indexes,
      (select coalesce(json_agg(p.prosrc), '[]') from pg_trigger g join pg_proc p on p.oid = g.tgfoid where g.tgrelid = c.oid and not g.tgisinternal)::text as notifies,
      case when c.relkind = 'p' then (select json_build_object('key', (select json_agg(coalesce(a.attname, '') order by k.position) from pg_partitioned_table d
            cross join unnest(d.partattrs::int2[]) with ordinality as k(attnum, position) left join pg_attribute a on a.attrelid = d.partrelid and a.attnum = k.attnum and k.attnum > 0 where d.partrelid = c.oid),
          'parts', coalesce(json_agg(json_build_object('name', json_build_object('schema', pn.nspname, 'table', p.relname), 'of', json_build_object('schema', un.nspname, 'table', u.relname), 'leaf', tree.isleaf)
            order by tree.level desc, p.relname), '[]'))
        from pg_partition_tree(c.oid) as tree join pg_class p on p.oid = tree.relid join pg_namespace pn on pn.oid = p.relnamespace
          join pg_class u on u.oid = tree.parentrelid join pg_namespace un on un.oid = u.relnamespace where tree.level > 0)::text end as partitions,
      (select coalesce(json_agg(k.relname), '[]') from (select relname from pg_class where relnamespace = c.relnamespace and relname like ${beginning}
        order by relname limit ${sql.lit(NAMESAKES)}) as k)::text as namesakes,
      case when c.relkind in ('r', 'p', 'm') then (select coalesce(sum(case when l.relpages > 0 and l.reltuples >= 0 then l.reltuples / l.relpages else ${sql.lit(UNCOUNTED_ROWS_PER_PAGE)} end
          * (pg_relation_size(l.oid) / current_setting('block_size')::int)), 0)::float8
        from (select c.oid union select relid from pg_partition_tree(c.oid)) as tree(oid) join pg_class l on l.oid = tree.oid where l.relkind in ('r', 'm')) end as estimated_rows,
      has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT') as can_select, has_table_privilege(c.oid, 'INSERT') as can_insert, has_table_privilege(c.oid, 'DELETE') as can_delete
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname = ${name.table} and ${named} and c.relkind in ('r', 'p', 'v', 'm', 'f')`.execute(db);
  const row = rows[0];
  if (row === undefined) return null;
  const columns = JSON.parse(row.columns) as ColumnRow[];
  return {
    name: { schema: row.schema, table: row.table },
    kind: row.relkind === 'r' || row.relkind === 'p' ? 'table' : row.relkind === 'v' || row.relkind === 'm' ? 'view' : 'other',
    columns: new Map(columns.map((column) => [column.name, describeColumn(column)])),
    indexes: (JSON.parse(row.indexes) as IndexRow[]).map(leadingColumns),
    namesakes: JSON.parse(row.namesakes) as string[],
    ...(row.partitions === null ? {} : { partitions: JSON.parse(row.partitions) as NonNullable<TableDescription['partitions']> }),
    estimatedRows: row.estimated_rows,
    notifies: (JSON.parse(row.notifies) as string[]).flatMap(channelsIn),
    privileges: {
      select: row.can_select,
      insert: row.can_insert,
      delete: row.can_delete,
      updateColumns: new Set(columns.filter((c) => c.update).map((c) => c.name)),
    },
  };
}

/** Served by the catalogue's index on schemas; locks nothing. */
export async function postgresTableNames(db: Db, schema: string | null): Promise<string[]> {
  const visible = sql`pg_table_is_visible(c.oid) and n.nspname not in ('pg_catalog', 'information_schema')`;
  const { rows } = await sql<{ name: string }>`select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where ${schema === null ? visible : sql`n.nspname = ${schema}`} and c.relkind in ('r', 'p', 'v', 'm', 'f')
    order by c.relname limit 2000`.execute(db);
  return rows.map((row) => row.name);
}

function describeColumn({ name, type, base, nullable, generated, labels, over }: ColumnRow): ColumnDescription {
  const described: ColumnDescription = { name, type, kind: KIND_BY_TYPE[base] ?? 'other', nullable, generated };
  return { ...described, ...(labels === null ? {} : { labels }), ...(over === null ? {} : { over }) };
}

/** pg_index.indoption: bit 0 is DESC, bit 1 is NULLS FIRST. */
function leadingColumns({ options, expression, ...index }: IndexRow): IndexDescription {
  const firstExpression = index.columns.indexOf('');
  const columns = firstExpression === -1 ? index.columns : index.columns.slice(0, firstExpression);
  const sorted = (options ?? []).map((option) => ({ descending: (option & 1) !== 0, nullsFirst: (option & 2) !== 0 }));
  const found = { ...index, unique: index.unique && firstExpression === -1, columns, sorted: sorted.slice(0, columns.length) };
  return expression === null || index.method !== 'btree'
    ? found
    : { ...found, expression: expression.replace(/::text(\[\])?|[\s'"()]/g, '') };
}

/** Channels in the source of a trigger function: `pg_notify('channel', …)` and `NOTIFY channel`. */
export function channelsIn(source: string): string[] {
  const called = [...source.matchAll(/pg_notify\s*\(\s*'([^']+)'/gi)].map((match) => match[1] ?? '');
  const stated = [...source.matchAll(/(?:^|[^_\w])notify\s+"?([A-Za-z_][\w$]*)"?/gi)].map((match) => match[1] ?? '');
  return [...called, ...stated].filter((channel) => channel !== '');
}

/** Ancestors and descendants by inheritance, partitions included. Served by the catalogue's indexes; any role may read it. */
export async function relatedTables(db: Db, tables: Required<TableName>[]): Promise<TableName[]> {
  const named = tables.map(({ schema, table }) => sql`(n.nspname = ${schema} and c.relname = ${table})`);
  const { rows } = await sql<TableName>`with recursive
      own as (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${sql.join(named, sql` or `)}),
      up as (select oid from own union select i.inhparent from up join pg_inherits i on i.inhrelid = up.oid),
      down as (select oid from own union select i.inhrelid from down join pg_inherits i on i.inhparent = down.oid)
    select n.nspname as schema, c.relname as table from (select oid from up union select oid from down) as kin
      join pg_class c on c.oid = kin.oid join pg_namespace n on n.oid = c.relnamespace
    where kin.oid not in (select oid from own)`.execute(db);
  return rows;
}

/** The planner's estimate from the current size and the last statistics, over all partitions, and for views too. */
export async function tableSize(db: Db, table: TableName): Promise<TableSize> {
  const plan = await sql<{ 'QUERY PLAN': string }>`explain (format json) select 1 from ${tableRef(table)} as o`.execute(db);
  const [explained] = JSON.parse(plan.rows[0]?.['QUERY PLAN'] ?? '[]') as { Plan: { 'Plan Rows': number } }[];
  const kind = await sql<{ partitioned: boolean }>`
    select c.relkind = 'p' as partitioned from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${table.schema} and c.relname = ${table.table}`.execute(db);
  return { rows: explained?.Plan['Plan Rows'] ?? Infinity, partitioned: kind.rows[0]?.partitioned ?? false };
}

/** CTE of the table and its partitions, served by the catalogue's indexes and bounded by their number. */
function treeOf({ schema, table }: TableName): RawBuilder<unknown> {
  return sql`with recursive tree(oid) as (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = ${table}
    union select i.inhrelid from pg_inherits i join tree on i.inhparent = tree.oid)`;
}

/** Rows per page at the last count, times the current number of pages. */
export async function estimateRows(db: Db, table: TableName): Promise<number> {
  const { rows } = await sql<{ rows: number }>`${treeOf(table)}
    select coalesce(sum(case when c.relpages > 0 and c.reltuples >= 0 then c.reltuples / c.relpages else ${sql.lit(UNCOUNTED_ROWS_PER_PAGE)} end
      * (pg_relation_size(c.oid) / current_setting('block_size')::int)), 0)::float8 as rows
    from tree join pg_class c on c.oid = tree.oid where c.relkind in ('r', 'm')`.execute(db);
  return rows[0]?.rows ?? 0;
}

/** Sum over all partitions, rolled back changes included; null for a view. Late, as each session reports its counts from time to time. */
export async function changeCounts(db: Db, table: TableName): Promise<ChangeCounts | null> {
  const { rows } = await sql<ChangeCounts>`${treeOf(table)}
    select sum(n_tup_ins)::float8 as inserted, sum(n_tup_upd)::float8 as updated, sum(n_tup_del)::float8 as deleted
    from tree join pg_stat_all_tables s on s.relid = tree.oid having count(*) > 0`.execute(db);
  return rows[0] ?? null;
}

/** SQL value: rows inserted over all partitions since the last statistics reset, rolled back ones included. As cheap and late. */
export const insertedCount = (table: TableName): RawBuilder<unknown> =>
  sql`(${treeOf(table)} select coalesce(sum(pg_stat_get_tuples_inserted(tree.oid)), 0)::float8 from tree)`;
