import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import type { Place } from '@/lib/outbox/outbox';
import type { Sql } from '../../spelling';

/** Rows per page where nobody has counted them yet: more than any outbox has, so that a table is not taken for small. */
const UNCOUNTED_ROWS_PER_PAGE = 60;

/** The tables that hold a place's rows: itself and its partitions. By the catalogue's indexes, bounded by their number. */
function treeOf(place: Place): Sql {
  return sql`with recursive tree(oid) as (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${place.table.schema} and c.relname = ${place.table.table}
    union select i.inhrelid from pg_inherits i join tree on i.inhparent = tree.oid)`;
}

/**
 * About how many rows a place has, as the planner estimates it: rows per page when they were last counted, times the pages
 * there are now. Infinite for a view, which tells neither. Reads the catalogue and no row; locks nothing.
 */
export async function estimateRows(db: Db, place: Place): Promise<number> {
  if (place.description.kind !== 'table') return Infinity;
  const { rows } = await sql<{ rows: number }>`${treeOf(place)}
    select coalesce(sum(case when c.relpages > 0 and c.reltuples >= 0 then c.reltuples / c.relpages else ${sql.lit(UNCOUNTED_ROWS_PER_PAGE)} end
      * (pg_relation_size(c.oid) / current_setting('block_size')::int)), 0)::float8 as rows
    from tree join pg_class c on c.oid = tree.oid where c.relkind in ('r', 'm')`.execute(db);
  return rows[0]?.rows ?? 0;
}

/** What the database's own statistics have counted since they were reset. Attempted changes: rolled back ones are in them. */
export interface ChangeCounts {
  inserted: number;
  updated: number;
  deleted: number;
}

/** The sum over all partitions; no row of the table is read. Reported by the sessions that change rows up to seconds late. */
export async function readChangeCounts(db: Db, place: Place): Promise<ChangeCounts> {
  const { rows } = await sql<ChangeCounts>`${treeOf(place)}
    select coalesce(sum(n_tup_ins), 0)::float8 as inserted, coalesce(sum(n_tup_upd), 0)::float8 as updated, coalesce(sum(n_tup_del), 0)::float8 as deleted
    from tree join pg_stat_all_tables s on s.relid = tree.oid`.execute(db);
  return rows[0] ?? { inserted: 0, updated: 0, deleted: 0 };
}
