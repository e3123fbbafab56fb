import { sql } from 'kysely';
import type { Db } from '../description';
import { mysqlFailure } from './failure';

export interface Grant {
  /** A REVOKE: MySQL lists the databases that a global grant does not reach. */
  revoked: boolean;
  rights: { name: string; columns: string[] }[];
  /** The object as the server quotes it, for use in a statement. */
  on: string;
  /** Database and table it applies to; `*` for all. */
  database: string;
  table: string;
  option: boolean;
  /** The grantee as the server quotes it, for use in a statement; '' if there is no such grant (`--skip-grant-tables`). */
  to: string;
}

const GRANTED =
  /^(GRANT|REVOKE) (.+?) ON (?:TABLE )?((?:`(?:[^`]|``)*`|\*)\.(?:`(?:[^`]|``)*`|\*)) (?:TO|FROM) ((?:`(?:[^`]|``)*`|'(?:[^']|'')*'|@|[^\s`'@])+)/i;

/** Parses e.g. ``GRANT SELECT, UPDATE (`status`) ON `shop`.`outbox` TO `reader`@`%` ``; null for grants of roles, which have no ON. */
export function parseGrant(text: string): Grant | null {
  const [match, verb = '', list = '', on = '', to = ''] = GRANTED.exec(text) ?? [];
  if (match === undefined) return null;
  const [database = '*', table = '*'] = [...on.matchAll(/`((?:[^`]|``)*)`|\*/g)].map((part) =>
    part[0] === '*' ? '*' : (part[1] ?? '').replaceAll('``', '`'),
  );
  const rights = [...list.matchAll(/([A-Z][A-Z_ ]*[A-Z])\s*(?:\(([^)]*)\))?/gi)].map((part) => ({
    name: (part[1] ?? '').trim().toUpperCase(),
    columns: [...(part[2] ?? '').matchAll(/`((?:[^`]|``)*)`/g)].map((column) => (column[1] ?? '').replaceAll('``', '`')),
  }));
  return { revoked: /^revoke$/i.test(verb), rights, on, database, table, option: /WITH GRANT OPTION/i.test(text), to };
}

/** Whether the database name of a grant, which may hold wildcards, matches this database. */
export function reaches(pattern: string, database: string): boolean {
  if (pattern === '*' || pattern === database) return true;
  const expression = pattern
    .replace(/[.*+?^${}()|[\]]/g, '\\$&')
    .replace(/\\?([%_])/g, (text, sign: string) => (text.length > 1 ? sign : sign === '%' ? '.*' : '.'));
  return new RegExp(`^${expression}$`).test(database);
}

/** Error of `show grants` on a server started with `--skip-grant-tables`, where every user may do everything. */
const NO_GRANTS = '1290';
const ALL_RIGHTS = [{ name: 'ALL PRIVILEGES', columns: [] }];
const EVERYTHING: Grant = { revoked: false, rights: ALL_RIGHTS, on: '*.*', database: '*', table: '*', option: true, to: '' };

/** Parsed `show grants` for this user and the roles in force, or as `of` says (` for …`). Throws the driver's error. */
export async function showGrants(db: Db, of = sql``): Promise<Grant[]> {
  try {
    const { rows } = await sql<Record<string, string>>`show grants${of}`.execute(db);
    return rows.flatMap((row) => parseGrant(Object.values(row)[0] ?? '') ?? []);
  } catch (error) {
    if (mysqlFailure(error).state === NO_GRANTS) return [EVERYTHING];
    throw error;
  }
}

/**
 * Whether this user holds a right on a whole table, by grants on it, its database or everything, those of active roles included: only `show
 * grants` reports them on both servers. Without a schema, the table is in the URL's database. Rights on columns do not count: the catalogue
 * has them for each column. Throws the driver's error.
 */
export async function holds(db: Db, right: 'DELETE' | 'TRIGGER', schema: string | null, table: string): Promise<boolean> {
  const { rows } = await sql<{ here: string | null }>`select database() as here`.execute(db);
  const database = schema ?? rows[0]?.here ?? '';
  const grants = (await showGrants(db)).filter(
    (grant) =>
      reaches(grant.database, database) &&
      (grant.table === '*' || grant.table === table) &&
      grant.rights.some(({ name, columns }) => columns.length === 0 && (name === right || /^ALL( PRIVILEGES)?$/.test(name))),
  );
  // A partial revoke limits global grants only, not those on the database or table by name.
  const partly = grants.some(({ revoked }) => revoked);
  return grants.some((grant) => !grant.revoked && !(partly && grant.database === '*'));
}
