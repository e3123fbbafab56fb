import { sql } from 'kysely';
import type { Db, TableName } from '@/lib/database/engine';
import { serverOf } from '@/lib/database/mysql/server';

/** InnoDB keeps some megabytes ahead of what it writes: so much empty is more than that. */
export const AHEAD_BYTES = 32 * 1_048_576;

/**
 * Whether a table lies in files of its own: what is empty in a tablespace of several tables is told of each of them, and
 * rebuilding one gives none of it back. By the server's dictionary, which only users with PROCESS may ask; for others a table
 * that names no tablespace is where the server makes such tables now.
 */
export async function hasOwnTablespace(db: Db, { schema, table }: TableName, quoted: string): Promise<boolean> {
  const types = await spacesOf(db, schema, table);
  if (types.length > 0) return types.every((type) => type === 'Single');
  const { rows: settings } = await sql<{ Value: string }>`show global variables like 'innodb_file_per_table'`.execute(db);
  if (settings[0]?.Value === 'OFF') return false;
  const { rows: made } = await sql<Record<string, string>>`show create table ${sql.raw(quoted)}`.execute(db);
  return !/^\).*\sTABLESPACE[ =]/m.test(made[0]?.['Create Table'] ?? '');
}

/** Kinds of the tablespaces of a table and its parts; none where this user is not told, or of names the dictionary spells otherwise. */
async function spacesOf(db: Db, schema: string | null, table: string): Promise<string[]> {
  const { mariadb } = await serverOf(db);
  const dictionary = sql.raw(`information_schema.${mariadb ? 'innodb_sys_tables' : 'innodb_tables'}`);
  try {
    const { rows } = await sql<{ type: string }>`select distinct space_type as type from ${dictionary}
      where substring_index(name, '#', 1) = concat(${schema === null ? sql`database()` : schema}, '/', ${table})`.execute(db);
    return rows.map(({ type }) => type);
  } catch {
    // A refused statement ends no transaction here.
    return [];
  }
}
