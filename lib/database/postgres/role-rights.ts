import { sql } from 'kysely';
import type { Db, TableName } from '../engine';
import type { RoleRights } from '../role-rights';

interface RightsRow {
  usage: boolean;
  can_select: boolean;
  can_insert: boolean;
  can_delete: boolean;
  columns: string;
}

/** Served by the catalogue's indexes on names and oids; locks nothing. */
export async function readPostgresRoleRights(db: Db, role: string, tables: Required<TableName>[]): Promise<RoleRights[] | null> {
  const wanted = sql.join(tables.map(({ schema, table }, index) => sql`(${sql.lit(index)}, ${schema}, ${table})`));
  // The role is joined rather than named: asking for one that does not exist would end the transaction.
  const { rows } = await sql<RightsRow>`
    with wanted(position, schema_name, table_name) as (values ${wanted})
    select has_schema_privilege(r.oid, n.oid, 'USAGE') as usage,
      has_table_privilege(r.oid, c.oid, 'SELECT') and (not c.relrowsecurity or r.rolsuper or r.rolbypassrls
        or (not c.relforcerowsecurity and pg_has_role(r.oid, c.relowner, 'USAGE'))
        or exists (select from pg_policy p where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('r', '*')
          and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as named(role) where named.role <> 0 and pg_has_role(r.oid, named.role, 'USAGE'))))) as can_select,
      has_table_privilege(r.oid, c.oid, 'INSERT') as can_insert, has_table_privilege(r.oid, c.oid, 'DELETE') as can_delete,
      (select coalesce(json_agg(a.attname), '[]') from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and has_column_privilege(r.oid, c.oid, a.attnum, 'UPDATE'))::text as columns
    from wanted w join pg_namespace n on n.nspname = w.schema_name join pg_class c on c.relnamespace = n.oid and c.relname = w.table_name
      cross join pg_roles r where r.rolname = ${role} order by w.position`.execute(db);
  if (rows.length !== tables.length) return null;
  return rows.map((row) => ({
    usage: row.usage,
    select: row.can_select,
    insert: row.can_insert,
    delete: row.can_delete,
    updateColumns: new Set(JSON.parse(row.columns) as string[]),
  }));
}

/** Of several functions of one name one is enough: only a call tells which of them is meant. Served by the catalogue's indexes; locks nothing. */
export async function readPostgresCallRights(db: Db, role: string, functions: { schema: string; name: string }[]): Promise<boolean[]> {
  const wanted = sql.join(functions.map(({ schema, name }, index) => sql`(${sql.lit(index)}, ${schema}, ${name})`));
  const { rows } = await sql<{ may: boolean }>`
    with wanted(position, schema_name, function_name) as (values ${wanted})
    select exists (select from pg_namespace n join pg_proc p on p.pronamespace = n.oid cross join pg_roles r
      where n.nspname = w.schema_name and p.proname = w.function_name and r.rolname = ${role}
        and has_schema_privilege(r.oid, n.oid, 'USAGE') and has_function_privilege(r.oid, p.oid, 'EXECUTE')) as may
    from wanted w order by w.position`.execute(db);
  return rows.map(({ may }) => may);
}
