import { sql, type RawBuilder } from 'kysely';
import type { TableName } from '../engine';

/**
 * Whether policies of row-level security keep rows of these tables from this role. A policy that lets everything through
 * hides nothing. Reads the catalogue by oid; locks nothing.
 */
export function hidesRows(tables: readonly Required<TableName>[]): RawBuilder<boolean> {
  if (tables.length === 0) return sql`false`;
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const oids = tables.map(
    ({ schema, table }) =>
      sql`${sql.lit(`${[schema, table].flatMap((name) => (name === null ? [] : [quoted(name)])).join('.')}`)}::regclass`,
  );
  const applies = sql`p.polcmd in ('r', '*') and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as r(role) where r.role <> 0 and pg_has_role(r.role, 'USAGE')))`;
  const all = sql`pg_get_expr(p.polqual, p.polrelid) = 'true'`;
  // Counted rather than tested for existence: PostgreSQL may read the whole catalogue once to test for existence.
  return sql`exists (select from unnest(array[${sql.join(oids)}]) as t(oid) where row_security_active(t.oid)
    and (select count(*) filter (where p.polpermissive and ${all}) = 0 or count(*) filter (where not p.polpermissive and ${all} is not true) > 0
      from pg_policy p where p.polrelid = t.oid and ${applies}))`;
}
