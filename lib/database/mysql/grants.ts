import { sql } from 'kysely';
import type { Db } from '../description';
import { mysqlFailure } from './failure';

export interface Grant {
  /** Whether it takes back instead: MySQL lists what a right on everything does not reach. */
  revoked: boolean;
  rights: { name: string; columns: string[] }[];
  /** As the server names it, to be used in a statement. */
  on: string;
  /** Database and table it reaches; `*` for all. */
  database: string;
  table: string;
  option: boolean;
  /** Whom it is given to, as the server names him, to be used in a statement; '' where nobody gave it. */
  to: string;
}

/** ``GRANT SELECT, UPDATE (`status`) ON `shop`.`outbox` TO `reader`@`%` ``; null for what is of no table: grants of roles have no ON. */
export function parseGrant(text: string): Grant | null {
  const match =
    /^(GRANT|REVOKE) (.+?) ON (?:TABLE )?((?:`(?:[^`]|``)*`|\*)\.(?:`(?:[^`]|``)*`|\*)) (?:TO|FROM) ((?:`(?:[^`]|``)*`|'(?:[^']|'')*'|@|[^\s`'@])+)/i.exec(
      text,
    );
  if (match === null) return null;
  const [, verb = '', list = '', on = '', to = ''] = match;
  const [database = '*', table = '*'] = [...on.matchAll(/`((?:[^`]|``)*)`|\*/g)].map((part) =>
    part[0] === '*' ? '*' : (part[1] ?? '').replaceAll('``', '`'),
  );
  const rights = [...list.matchAll(/([A-Z][A-Z_ ]*[A-Z])\s*(?:\(([^)]*)\))?/gi)].map((part) => ({
    name: (part[1] ?? '').trim().toUpperCase(),
    columns: [...(part[2] ?? '').matchAll(/`((?:[^`]|``)*)`/g)].map((column) => (column[1] ?? '').replaceAll('``', '`')),
  }));
  return { revoked: /^revoke$/i.test(verb), rights, on, database, table, option: /WITH GRANT OPTION/i.test(text), to };
}

/** Whether a database is one that a grant names: names in grants may hold wildcards. */
export function reaches(pattern: string, database: string): boolean {
  if (pattern === '*' || pattern === database) return true;
  const expression = pattern
    .replace(/[.*+?^${}()|[\]]/g, '\\$&')
    .replace(/\\?([%_])/g, (text, sign: string) => (text.length > 1 ? sign : sign === '%' ? '.*' : '.'));
  return new RegExp(`^${expression}$`).test(database);
}

/** A server started with `--skip-grant-tables` says so instead of telling rights, and lets everybody do everything. */
const NO_GRANTS = '1290';
const EVERYTHING: Grant = {
  revoked: false,
  rights: [{ name: 'ALL PRIVILEGES', columns: [] }],
  on: '*.*',
  database: '*',
  table: '*',
  option: true,
  to: '',
};

/** What `show grants` answers, of this user and the roles in force unless told of whom. Throws DatabaseFailure. */
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
 * Whether this user holds a right on a whole table, by grants on it, its database or everything, those of his roles
 * included: only `show grants` tells them on both servers. Without a schema it is a table of the URL's own database. Rights on
 * columns stand beside the columns. Throws DatabaseFailure.
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
  // What is taken back of a right on everything is no less given by name.
  const partly = grants.some(({ revoked }) => revoked);
  return grants.some((grant) => !grant.revoked && !(partly && grant.database === '*'));
}
