import { sql } from 'kysely';
import type { Db } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import { reaches, showGrants, type Grant } from '@/lib/database/mysql/grants';
import { serverOf } from '@/lib/database/mysql/server';
import type { Outbox } from '@/lib/outbox/outbox';
import { neededRights, type Rights } from '@/lib/outbox/rights/rights';
import { excessive, neededOnRows, type RoleFacts, type TableFacts } from './facts';

/** Rights that let a user do anything, or grant rights to others: the names of MySQL and of MariaDB. */
const GRAVE =
  /^(ALL PRIVILEGES|ALL|SUPER|CREATE USER|GRANT OPTION|FILE|SHUTDOWN|SET USER|BINLOG ADMIN|ROLE_ADMIN|SET_ANY_DEFINER|SET_USER_ID|SYSTEM_VARIABLES_ADMIN)$/i;
const WRITES = /^(ALL PRIVILEGES|ALL|INSERT|UPDATE|DELETE|DROP|ALTER|CREATE|TRIGGER|INDEX|REFERENCES)$/i;

/** What reader and operator may do beyond what they need, by the grants that the server shows to each. */
export async function readMysqlRoles(outbox: Outbox, tables: readonly TableFacts[]): Promise<RoleFacts[]> {
  const { read, write, roles } = outbox.database;
  const facts: RoleFacts[] = [];
  if (write === null || roles.operator !== roles.reader) {
    const { name, grants } = await read(grantsOf);
    facts.push({ key: 'reader', name, wide: widthOf(outbox, tables, grants) });
  }
  if (write === null) return facts;
  try {
    const { name, grants } = await write(grantsOf);
    facts.push({ key: 'operator', name, wide: widthOf(outbox, tables, grants, neededRights(outbox)) });
  } catch (error) {
    // An operator that cannot log in cannot do anything.
    if (!(error instanceof DatabaseFailure)) throw error;
  }
  return facts;
}

async function grantsOf(db: Db): Promise<{ name: string; grants: Grant[] }> {
  const { rows } = await sql<{ me: string; base: string | null }>`select current_user() as me, database() as base`.execute(db);
  const [{ me = '', base = '' } = {}] = rows;
  const { mariadb, major } = await serverOf(db);
  const grants = mariadb || major < 8 ? await showGrants(db) : await attributed(db, me);
  return { name: me, grants: grants.filter(({ revoked, database }) => !revoked && reaches(database, base ?? '')) };
}

/** MySQL shows rights from roles as the user's own, from whom they cannot be revoked. */
async function attributed(db: Db, me: string): Promise<Grant[]> {
  const at = me.lastIndexOf('@');
  const user = sql` for ${sql.lit(me.slice(0, at))}@${sql.lit(me.slice(at + 1))}`;
  const own = await showGrants(db, user);
  const { rows } = await sql<{ roles: string }>`select current_role() as roles`.execute(db);
  const added: Grant[] = [];
  for (const role of rows[0]?.roles.match(/`(?:[^`]|``)*`@`(?:[^`]|``)*`/g) ?? []) {
    const together = await showGrants(db, sql`${user} using ${sql.raw(role)}`);
    added.push(...together.flatMap((grant) => beyond(grant, own, role)));
  }
  return [...own, ...added];
}

/** The part of a grant that the user does not have directly. */
function beyond(grant: Grant, own: readonly Grant[], role: string): Grant[] {
  const mine = own.filter(({ on }) => on === grant.on).flatMap(({ rights }) => rights);
  const rights = grant.rights.flatMap(({ name, columns }) => {
    const same = mine.filter((right) => right.name === name);
    if (same.some((right) => right.columns.length === 0)) return [];
    const rest = columns.filter((column) => !same.some((right) => right.columns.includes(column)));
    return columns.length > 0 && rest.length === 0 ? [] : [{ name, columns: rest }];
  });
  return rights.length === 0 ? [] : [{ ...grant, rights, to: role }];
}

function widthOf(outbox: Outbox, tables: readonly TableFacts[], grants: readonly Grant[], needed?: ReturnType<typeof neededRights>) {
  const wide: RoleFacts['wide'] = [];
  for (const { rights, on, table, option, to } of grants) {
    const names = rights.map(({ name }) => name);
    if (on === '*.*' && (option || names.some((name) => GRAVE.test(name))))
      return [{ code: 'superuser', on: '', revoke: to === '' ? null : `REVOKE ALL PRIVILEGES, GRANT OPTION FROM ${to};` }];
    const own = tables.find(({ place }) => place.table.table === table);
    if (table !== '*' && own === undefined) continue;
    const allowed = own && needed?.get(own.place);
    const excess = rights.filter((right) => WRITES.test(right.name) && !isNeeded(right, allowed));
    const whole = excess.flatMap(({ name, columns }) => (columns.length === 0 ? [name] : []));
    const columns = excess.flatMap((right) => right.columns.filter((column) => allowed?.update.has(column) !== true));
    const quoted = columns.map(outbox.database.engine.quote.identifier);
    const revoke = (what: string): string => `REVOKE ${what} ON ${on} FROM ${to};`;
    wide.push(...excessive('table_rights', on, whole, revoke(whole.join(', '))));
    wide.push(...excessive('column_rights', on, columns, revoke(`UPDATE (${quoted.join(', ')})`)));
  }
  return wide;
}

function isNeeded({ name, columns }: Grant['rights'][number], allowed: Rights | undefined): boolean {
  if (name !== 'UPDATE') return neededOnRows(allowed).includes(name);
  return columns.length > 0 && columns.every((column) => allowed?.update.has(column));
}
