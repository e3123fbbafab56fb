import { sql } from 'kysely';
import type { Db, TableName } from '../engine';

/** Ancestors and descendants by inheritance, which partitions are a kind of. Served by the catalogue's indexes; any role may read it. */
export async function kin(db: Db, tables: Required<TableName>[]): Promise<TableName[]> {
  const named = tables.map(({ schema, table }) => sql`(n.nspname = ${schema} and c.relname = ${table})`);
  const { rows } = await sql<TableName>`with recursive
      own as (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${sql.join(named, sql` or `)}),
      up as (select oid from own union select i.inhparent from up join pg_inherits i on i.inhrelid = up.oid),
      down as (select oid from own union select i.inhrelid from down join pg_inherits i on i.inhparent = down.oid)
    select n.nspname as schema, c.relname as table from (select oid from up union select oid from down) as kin
      join pg_class c on c.oid = kin.oid join pg_namespace n on n.oid = c.relnamespace where kin.oid not in (select oid from own)`.execute(
    db,
  );
  return rows;
}
