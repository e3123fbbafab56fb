/** What a role may do, asked by another one. */
import type { EngineKey } from '@/lib/shared/model';
import type { Db, TableName } from './engine';
import { readPostgresCallRights, readPostgresRoleRights } from './postgres/role-rights';

export interface RoleRights {
  /** The role may use the table's schema. */
  usage: boolean;
  /** False also where row-level security lets the role see no row at all. */
  select: boolean;
  insert: boolean;
  delete: boolean;
  updateColumns: Set<string>;
}

type Reader = (db: Db, role: string, tables: Required<TableName>[]) => Promise<RoleRights[] | null>;

const READERS: Partial<Record<EngineKey, Reader>> = { postgres: readPostgresRoleRights };

/**
 * The rights of a role on each of these tables, in their order, by one look into the catalogue. null where nobody can tell: a
 * role that is called otherwise behind a pooler, or an engine that answers only for oneself.
 */
export async function readRoleRights(engine: EngineKey, db: Db, role: string, tables: Required<TableName>[]): Promise<RoleRights[] | null> {
  return (await READERS[engine]?.(db, role, tables)) ?? null;
}

/** Whether a role may call each of these functions, in their order. Only PostgreSQL's shapes have operations that call one. */
export async function readCallRights(
  engine: EngineKey,
  db: Db,
  role: string,
  functions: { schema: string; name: string }[],
): Promise<boolean[]> {
  return engine === 'postgres' && functions.length > 0 ? readPostgresCallRights(db, role, functions) : functions.map(() => true);
}
