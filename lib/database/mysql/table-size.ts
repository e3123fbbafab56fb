import { sql, type RawBuilder } from 'kysely';
import type { ChangeCounts, Db, TableName, TableSize } from '../engine';
import { tableRef } from '../table-ref';
import { mysqlFailure } from './failure';

const COUNTERS = 'table_io_waits_summary_by_table';
export const CHANGE_COUNTERS = `performance_schema.${COUNTERS}`;

const schemaOf = ({ schema }: TableName): RawBuilder<unknown> => sql`${schema ?? sql`database()`}`;

/** By the server's own estimate, which may be half as much again or half: it samples a few pages of the table. */
export async function tableSize(db: Db, table: TableName): Promise<TableSize> {
  const { rows } = await sql<{ n: string | number | null; options: string | null; type: string }>`select table_rows as n,
      create_options as options, table_type as type
    from information_schema.tables where table_schema = ${schemaOf(table)} and table_name = ${table.table}`.execute(db);
  const [row] = rows;
  const sizeOf = async ({ n, type }: { n: string | number | null; type: string }): Promise<number> =>
    n === null ? (type === 'VIEW' ? viewRows(db, table) : Infinity) : Number(n);
  return {
    rows: row === undefined ? Infinity : await sizeOf(row),
    partitioned: /\bpartitioned\b/i.test(row?.options ?? ''),
  };
}

/** As the planner takes it; Infinity where the role may not see how the view is made (SHOW VIEW). */
async function viewRows(db: Db, view: TableName): Promise<number> {
  try {
    const { rows } = await sql<{
      id: string | number | null;
      rows: string | number | null;
    }>`explain format = traditional select 1 from ${tableRef(view)} as o`.execute(db);
    // Tables that are joined have one number and multiply; what is below them has another.
    return rows.filter(({ id }) => Number(id) === 1).reduce((product, { rows: read }) => product * Number(read ?? 1), 1);
  } catch (error) {
    if (mysqlFailure(error).code === 'no_privilege') return Infinity;
    throw error;
  }
}

export async function estimateRows(db: Db, table: TableName): Promise<number> {
  return (await tableSize(db, table)).rows;
}

/**
 * From the performance schema, where the server keeps one and the role may read the table it is in. It counts from the
 * server's start on, and at once.
 */
export async function changeCounts(db: Db, table: TableName): Promise<ChangeCounts | null> {
  const counters = sql.id('performance_schema', COUNTERS);
  // What a role may not read at all is not in its catalogue; asking for it would fail the statement.
  const { rows: readable } = await sql`select 1 from information_schema.tables
    where table_schema = 'performance_schema' and table_name = ${COUNTERS} and @@performance_schema = 1`.execute(db);
  if (readable.length === 0) return null;
  const { rows } = await sql<Record<keyof ChangeCounts | 'handled', string>>`select count_star as handled, count_insert as inserted,
      count_update as updated, count_delete as deleted from ${counters}
    where object_type = 'TABLE' and object_schema = ${schemaOf(table)} and object_name = ${table.table}`.execute(db);
  const [row] = rows;
  if (row !== undefined && Number(row.handled) > 0)
    return { inserted: Number(row.inserted), updated: Number(row.updated), deleted: Number(row.deleted) };
  // Nobody has touched this table since the server started; or nobody counts, and then no other table has counts either. Changes
  // through a view are those of the tables below it, and never its own.
  const { rows: others } = await sql`select 1 from ${counters} where count_star > 0 and exists (select 1 from information_schema.tables
    where table_schema = ${schemaOf(table)} and table_name = ${table.table} and table_type <> 'VIEW') limit 1`.execute(db);
  return others.length === 0 ? null : { inserted: 0, updated: 0, deleted: 0 };
}
