import { sql } from 'kysely';
import type { Db } from '../engine';
import type { ServerKind } from './server';

/**
 * Whether this user may delete rows of a table, by grants on it, its database or everything, its roles' included. Rights
 * on columns stand beside the columns; deleting is of no column.
 */
export async function deletable(db: Db, kind: ServerKind, schema: string, table: string): Promise<boolean> {
  const grantees = await granteesOf(db, kind);
  const mine = sql`grantee in (${sql.join(grantees)}) and privilege_type = 'DELETE'`;
  const { rows } = await sql<{ found: string }>`
    select 'everything' as found from information_schema.user_privileges where ${mine}
    union all select 'database' from information_schema.schema_privileges where ${mine} and ${schema} like table_schema
    union all select 'table' from information_schema.table_privileges where ${mine} and table_schema = ${schema} and table_name = ${table} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/** The user as the privilege tables name him, and the roles in force. */
async function granteesOf(db: Db, kind: ServerKind): Promise<string[]> {
  const role = kind.mariadb || kind.major >= 8 ? sql`current_role()` : sql`null`;
  const { rows } = await sql<{ me: string; role: string | null }>`select current_user() as me, ${role} as role`.execute(db);
  const me = rows[0]?.me ?? '';
  const at = me.lastIndexOf('@');
  const roles = rows[0]?.role ?? null;
  return [quoted(me.slice(0, at), me.slice(at + 1)), ...rolesIn(roles)];
}

const quoted = (user: string, host: string): string => `'${user}'@'${host}'`;

/** MariaDB names one role, without a host; MySQL a list of quoted ones with hosts, or NONE. */
function rolesIn(text: string | null): string[] {
  if (text === null || text === '' || text === 'NONE') return [];
  const listed = [...text.matchAll(/`([^`]+)`@`([^`]+)`/g)].map((match) => quoted(match[1] ?? '', match[2] ?? ''));
  return listed.length > 0 ? listed : [quoted(text, ''), `'${text}'`, text];
}
