import { sql, type RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { ColumnFacts, IndexFacts, TableFacts } from './facts';
import { statusColumns } from '../state-columns';

/** Item pointer and header of a row, aligned. */
const ROW_OVERHEAD_BYTES = 28;
/** Where nobody has counted them yet; the description of a table says the same. */
const UNCOUNTED_ROWS_PER_PAGE = 60;

const LARGEST: Record<string, bigint> = { smallint: 32_767n, integer: 2_147_483_647n, bigint: 9_223_372_036_854_775_807n };

/** The largest whole number a type holds, as the catalogue spells the type; null for other types. */
export function largestOf(type: string): bigint | null {
  return LARGEST[type] ?? null;
}

/** A table's name as PostgreSQL reads it anywhere. */
export function quotedTable({ database: { engine } }: Outbox, { table }: Place): string {
  return `${engine.quote.identifier(table.schema ?? 'public')}.${engine.quote.identifier(table.table)}`;
}

interface TableRow {
  kind: string;
  table_bytes: number;
  heap_bytes: number;
  index_bytes: number;
  rows: number;
  uncounted: boolean;
  inserts: number;
  updates: number;
  hot_updates: number;
  deletes: number;
  dead_rows: number;
  changed: number;
  vacuumed_at: string | null;
  analyzed_at: string | null;
  starts_at: number;
  analyzes_at: number;
  enabled: boolean;
  switched_off: string;
  unlogged: string;
  fillfactor: number;
  busy: boolean;
}

/**
 * A table's size, counters, columns and indexes: catalogue and statistics of this one table and its partitions, by oid.
 * Sizes are asked of the file system; nothing of the table is read.
 */
export async function readTable(db: Db, outbox: Outbox, place: Place): Promise<TableFacts> {
  const quoted = quotedTable(outbox, place);
  const row = await tableRow(db, quoted);
  const columns = await readColumns(db, outbox, place, quoted, row.kind === 'p');
  const widths = [...columns.values()].map(({ averageBytes }) => averageBytes);
  const known = widths.some((width) => width !== null);
  const isTable = row.kind === 'r' || row.kind === 'p';
  return {
    place,
    quoted,
    rows: isTable ? row.rows : null,
    tableBytes: row.table_bytes,
    heapBytes: row.heap_bytes,
    freeBytes: null,
    indexBytes: row.index_bytes,
    rowBytes: known ? widths.reduce<number>((sum, width) => sum + (width ?? 0), ROW_OVERHEAD_BYTES) : null,
    writes: isTable ? { inserts: row.inserts, updates: row.updates, hotUpdates: row.hot_updates, deletes: row.deletes } : null,
    vacuum: isTable
      ? {
          deadRows: row.dead_rows,
          startsAtRows: row.starts_at,
          enabled: row.enabled,
          switchedOff: JSON.parse(row.switched_off) as string[],
          vacuumedAt: row.vacuumed_at,
          changedSinceAnalyzed: row.changed,
          analyzesAtRows: row.analyzes_at,
          analyzedAt: row.analyzed_at,
          uncounted: row.uncounted,
          fillfactor: row.fillfactor,
          unlogged: JSON.parse(row.unlogged) as string[],
        }
      : null,
    columns,
    indexes: isTable ? await readIndexes(db, quoted) : [],
    partitioned: row.kind === 'p',
    busy: row.busy,
    storage: null,
  };
}

async function tableRow(db: Db, quoted: string): Promise<TableRow> {
  const option = (name: string) =>
    sql`(select o.option_value from leaf, pg_options_to_table(leaf.reloptions) as o where o.option_name = ${sql.lit(name)} limit 1)`;
  const setting = (name: string) => sql`coalesce(${option(name)}, current_setting(${sql.lit(name)}))::float8`;
  const named = sql`quote_ident(n.nspname) || '.' || quote_ident(leaf.relname)`;
  const off = sql`exists (select from pg_options_to_table(leaf.reloptions) as o where o.option_name = 'autovacuum_enabled' and not o.option_value::bool)`;
  const leavesThat = (test: RawBuilder<unknown>) =>
    sql`(select coalesce(json_agg(${named} order by leaf.relname), '[]') from leaf join pg_namespace n on n.oid = leaf.relnamespace where ${test})::text`;
  const iso = (column: string) => sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  const { rows } = await sql<TableRow>`
    with own as (select * from pg_class where oid = ${quoted}::regclass),
      tree as (select oid from own union select relid from own, pg_partition_tree(own.oid) where own.relkind = 'p'),
      leaf as (select c.* from tree join pg_class c using (oid) where c.relkind in ('r', 'm')),
      counted as (select coalesce(sum(n_tup_ins), 0)::float8 as inserts, coalesce(sum(n_tup_upd), 0)::float8 as updates, coalesce(sum(n_tup_hot_upd), 0)::float8 as hot_updates,
          coalesce(sum(n_tup_del), 0)::float8 as deletes, coalesce(sum(n_dead_tup), 0)::float8 as dead_rows, coalesce(sum(n_mod_since_analyze), 0)::float8 as changed,
          max(greatest(last_vacuum, last_autovacuum)) as vacuumed, max(greatest(last_analyze, last_autoanalyze)) as analyzed
        from leaf join pg_stat_all_tables s on s.relid = leaf.oid),
      sized as (select coalesce(sum(pg_table_size(oid)), 0)::float8 as table_bytes, coalesce(sum(pg_relation_size(oid)), 0)::float8 as heap_bytes,
          coalesce(sum(pg_indexes_size(oid)), 0)::float8 as index_bytes,
          coalesce(sum(case when relpages > 0 and reltuples >= 0 then reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::int)
            when n_tup_ins > n_tup_del then n_tup_ins - n_tup_del
            else ${sql.lit(UNCOUNTED_ROWS_PER_PAGE)} * (pg_relation_size(oid) / current_setting('block_size')::int) end), 0)::float8 as rows,
          coalesce(bool_or(reltuples < 0), false) as uncounted from leaf left join pg_stat_all_tables s on s.relid = leaf.oid)
    select own.relkind::text as kind, table_bytes, heap_bytes, index_bytes, rows, uncounted,
      inserts, updates, hot_updates, deletes, dead_rows, changed, ${iso('vacuumed')} as vacuumed_at, ${iso('analyzed')} as analyzed_at,
      ${setting('autovacuum_vacuum_threshold')} + ${setting('autovacuum_vacuum_scale_factor')} * rows as starts_at,
      ${setting('autovacuum_analyze_threshold')} + ${setting('autovacuum_analyze_scale_factor')} * rows as analyzes_at,
      current_setting('autovacuum')::bool and current_setting('track_counts')::bool as enabled, ${leavesThat(off)} as switched_off, ${leavesThat(sql`leaf.relpersistence = 'u'`)} as unlogged,
      coalesce(${option('fillfactor')}::float8, 100) as fillfactor,
      exists (select from pg_locks l where l.relation = own.oid and l.mode = 'ShareUpdateExclusiveLock' and l.pid <> pg_backend_pid()) as busy
    from own, counted, sized`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error(`${quoted} is not in the catalogue`);
  return row;
}

interface ColumnRow {
  name: string;
  type: string;
  default_text: string | null;
  declared: string[];
  width: number | null;
  frequent: string[] | null;
  shares: number[] | null;
  nulls: number | null;
  bounds: string[] | null;
}

/** Columns with what the planner remembers of them; frequent values only of those that are judged by value. */
async function readColumns(db: Db, outbox: Outbox, place: Place, quoted: string, partitioned: boolean): Promise<Map<string, ColumnFacts>> {
  const judged = new Set<string>(statusColumns(outbox.shape).keys());
  for (const role of ['createdAt', 'publishedAt', 'attempts', 'diedAt'] as const) {
    const bound = place.roles[role];
    if (bound !== undefined && bound.path.length === 0) judged.add(bound.column.name);
  }
  // The view of statistics is asked by name, and once: joined to, it is read whole where the planner does not know the catalogue.
  const { rows } = await sql<{ columns: string }>`
    with stats as materialized (select s.attname, s.avg_width, s.null_frac, case when s.attname = any(${[...judged]}::text[]) then s.most_common_vals::text::text[] end as frequent,
        case when s.attname = any(${[...judged]}::text[]) then s.most_common_freqs end as shares, case when s.attname = any(${[...judged]}::text[]) then s.histogram_bounds::text::text[] end as bounds
      from pg_stats s where s.schemaname = ${place.table.schema ?? 'public'} and s.tablename = ${place.table.table} and s.inherited = ${partitioned})
    select coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null), 'default_text', pg_get_expr(f.adbin, f.adrelid),
      'declared', (select coalesce(json_agg(e.enumlabel order by e.enumsortorder), '[]') from pg_enum e where e.enumtypid = a.atttypid),
      'width', s.avg_width * (1 - s.null_frac), 'frequent', s.frequent, 'shares', s.shares, 'nulls', s.null_frac, 'bounds', case when s.bounds is not null then array[s.bounds[1], s.bounds[array_upper(s.bounds, 1)]] end)), '[]')::text as columns
    from pg_attribute a left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum left join stats s on s.attname = a.attname
    where a.attrelid = ${quoted}::regclass and a.attnum > 0 and not a.attisdropped`.execute(db);
  return new Map(
    (JSON.parse(rows[0]?.columns ?? '[]') as ColumnRow[]).map((column): [string, ColumnFacts] => {
      const largest = largestOf(column.type);
      return [
        column.name,
        {
          name: column.name,
          type: column.type,
          largest: largest === null ? null : String(largest),
          frequent: (column.frequent ?? []).map((value, at) => ({ value, share: column.shares?.[at] ?? 0 })),
          nullShare: column.nulls ?? 0,
          smallestSeen: column.bounds?.[0] ?? null,
          largestSeen: column.bounds?.[1] ?? null,
          averageBytes: column.width,
          declared: column.declared,
          defaultText: column.default_text,
          caseless: false,
          charset: null,
        },
      ];
    }),
  );
}

async function readIndexes(db: Db, quoted: string): Promise<IndexFacts[]> {
  const { rows } = await sql<{ indexes: string }>`
    select coalesce(json_agg(json_build_object('name', i.relname, 'definition', pg_get_indexdef(i.oid), 'method', m.amname, 'unique', x.indisunique, 'primary', x.indisprimary,
      'constraint', exists (select from pg_constraint k where k.conindid = i.oid), 'valid', x.indisvalid, 'predicate', pg_get_expr(x.indpred, x.indrelid),
      'sorting', concat_ws('|', x.indoption::text, x.indcollation::text, x.indclass::text),
      'columns', (select coalesce(json_agg(coalesce(a.attname, '') order by k.at), '[]') from unnest(x.indkey::int2[]) with ordinality as k(attnum, at)
        left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.attnum and k.attnum > 0 where k.at <= x.indnkeyatts),
      'included', (select coalesce(json_agg(a.attname order by k.at), '[]') from unnest(x.indkey::int2[]) with ordinality as k(attnum, at)
        join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.attnum where k.at > x.indnkeyatts),
      'depends', (select coalesce(json_agg(distinct a.attname), '[]') from pg_attribute a where a.attrelid = x.indrelid and a.attnum > 0 and (a.attnum = any(x.indkey::int2[])
        or a.attnum in (select d.refobjsubid from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.oid and d.refobjid = x.indrelid))),
      'bytes', t.bytes, 'entries', t.entries, 'scans', t.scans) order by i.relname), '[]')::text as indexes
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am m on m.oid = i.relam
      cross join lateral (select coalesce(sum(pg_relation_size(l.oid)), 0)::float8 as bytes, case when bool_or(l.reltuples < 0) then null else sum(l.reltuples)::float8 end as entries,
          coalesce(sum(u.idx_scan), 0)::float8 as scans
        from (select i.oid as oid union select relid from pg_partition_tree(i.oid) where i.relkind = 'I') as tree join pg_class l on l.oid = tree.oid and l.relkind = 'i'
          left join pg_stat_all_indexes u on u.indexrelid = l.oid) as t
    where x.indrelid = ${quoted}::regclass`.execute(db);
  return JSON.parse(rows[0]?.indexes ?? '[]') as IndexFacts[];
}
