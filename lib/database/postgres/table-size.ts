import { sql, type RawBuilder } from 'kysely';
import type { ChangeCounts, Db, TableName, TableSize } from '../engine';
import { tableRef } from '../table-ref';

/** Rows per page where nobody has counted them yet: more than any outbox has, so that a table is not taken for small. */
const UNCOUNTED_ROWS_PER_PAGE = 60;

/** As the planner estimates it, over all partitions, and for a view too: from its size now and its last statistics. */
export async function tableSize(db: Db, table: TableName): Promise<TableSize> {
  const plan = await sql<{ 'QUERY PLAN': string }>`explain (format json) select 1 from ${tableRef(table)} as o`.execute(db);
  const [explained] = JSON.parse(plan.rows[0]?.['QUERY PLAN'] ?? '[]') as { Plan: { 'Plan Rows': number } }[];
  const kind = await sql<{
    partitioned: boolean;
  }>`select c.relkind = 'p' as partitioned from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${table.schema} and c.relname = ${table.table}`.execute(db);
  return { rows: explained?.Plan['Plan Rows'] ?? Infinity, partitioned: kind.rows[0]?.partitioned ?? false };
}

/** The table and its partitions. By the catalogue's indexes, bounded by their number. */
function treeOf({ schema, table }: TableName): RawBuilder<unknown> {
  return sql`with recursive tree(oid) as (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = ${table}
    union select i.inhrelid from pg_inherits i join tree on i.inhparent = tree.oid)`;
}

/** Rows per page when they were last counted, times the pages there are now. */
export async function estimateRows(db: Db, table: TableName): Promise<number> {
  const { rows } = await sql<{ rows: number }>`${treeOf(table)}
    select coalesce(sum(case when c.relpages > 0 and c.reltuples >= 0 then c.reltuples / c.relpages else ${sql.lit(UNCOUNTED_ROWS_PER_PAGE)} end
      * (pg_relation_size(c.oid) / current_setting('block_size')::int)), 0)::float8 as rows
    from tree join pg_class c on c.oid = tree.oid where c.relkind in ('r', 'm')`.execute(db);
  return rows[0]?.rows ?? 0;
}

/** The sum over all partitions; null for a view, whose rows nobody counts. Reported by the sessions that change rows, what they rolled back included. */
export async function changeCounts(db: Db, table: TableName): Promise<ChangeCounts | null> {
  const { rows } = await sql<ChangeCounts>`${treeOf(table)}
    select sum(n_tup_ins)::float8 as inserted, sum(n_tup_upd)::float8 as updated, sum(n_tup_del)::float8 as deleted
    from tree join pg_stat_all_tables s on s.relid = tree.oid having count(*) > 0`.execute(db);
  return rows[0] ?? null;
}

/** Rows ever inserted, also by transactions that were rolled back, over all partitions, as a value of a statement. As cheap, and as late. */
export const insertedCount = (table: TableName): RawBuilder<unknown> =>
  sql`(${treeOf(table)} select coalesce(sum(pg_stat_get_tuples_inserted(tree.oid)), 0)::float8 from tree)`;
