import { sql } from 'kysely';
import type { Db } from '@/lib/database/engine';
import { DatabaseFailure } from '@/lib/database/failure';
import type { Outbox } from '@/lib/outbox/outbox';
import { neededRights, type Rights } from '@/lib/outbox/rights';
import type { RoleFacts, TableFacts } from './facts';

/** Rights that let a user do anything, or give rights to others. */
const GRAVE = /^(ALL PRIVILEGES|ALL|SUPER|CREATE USER|GRANT OPTION|FILE|SHUTDOWN|SET USER|BINLOG ADMIN)$/i;
const WRITES = /^(ALL PRIVILEGES|ALL|INSERT|UPDATE|DELETE|DROP|ALTER|CREATE|TRIGGER|INDEX|REFERENCES)$/i;

interface Grant {
  rights: { name: string; columns: string[] }[];
  on: string;
  /** Database and table it reaches; `*` for all. */
  database: string;
  table: string;
  option: boolean;
  to: string;
}

/** What reader and operator may do beyond what they need: what the server says their grants are, to themselves. */
export async function readMysqlRoles(outbox: Outbox, tables: readonly TableFacts[]): Promise<RoleFacts[]> {
  const { read, write, roles } = outbox.database;
  const facts: RoleFacts[] = [];
  if (write === null || roles.operator !== roles.reader) {
    const { name, grants } = await read(grantsOf);
    facts.push({ key: 'reader', name, wide: widthOf(outbox, tables, grants, null) });
  }
  if (write === null) return facts;
  try {
    const { name, grants } = await write(grantsOf);
    facts.push({ key: 'operator', name, wide: widthOf(outbox, tables, grants, neededRights(outbox)) });
  } catch (error) {
    // An operator who cannot come in can do nothing either.
    if (!(error instanceof DatabaseFailure)) throw error;
  }
  return facts;
}

async function grantsOf(db: Db): Promise<{ name: string; grants: Grant[] }> {
  const { rows } = await sql<Record<string, string>>`show grants`.execute(db);
  const { rows: me } = await sql<{ me: string; base: string | null }>`select current_user() as me, database() as base`.execute(db);
  const base = me[0]?.base ?? '';
  return {
    name: me[0]?.me ?? '',
    grants: rows.flatMap((row) => parse(Object.values(row)[0] ?? '')).filter((grant) => reaches(grant.database, base)),
  };
}

/** Database names in grants may hold wildcards. */
function reaches(pattern: string, database: string): boolean {
  if (pattern === '*' || pattern === database) return true;
  const expression = pattern
    .replace(/[.*+?^${}()|[\]]/g, '\\$&')
    .replace(/\\?([%_])/g, (text, sign: string) => (text.length > 1 ? sign : sign === '%' ? '.*' : '.'));
  return new RegExp(`^${expression}$`).test(database);
}

/** `GRANT SELECT, UPDATE (status) ON \`shop\`.\`outbox\` TO \`reader\`@\`%\``; grants of roles have no ON. */
function parse(text: string): Grant[] {
  const match = /^GRANT (.+?) ON (?:TABLE )?((?:`(?:[^`]|``)*`|\*)\.(?:`(?:[^`]|``)*`|\*)) TO (\S+)/i.exec(text);
  if (match === null) return [];
  const [, list = '', on = '', to = ''] = match;
  const [database = '*', table = '*'] = [...on.matchAll(/`((?:[^`]|``)*)`|\*/g)].map((part) =>
    part[0] === '*' ? '*' : (part[1] ?? '').replaceAll('``', '`'),
  );
  const rights = [...list.matchAll(/([A-Z][A-Z ]*[A-Z])\s*(?:\(([^)]*)\))?/gi)].map((part) => ({
    name: (part[1] ?? '').trim().toUpperCase(),
    columns: [...(part[2] ?? '').matchAll(/`((?:[^`]|``)*)`/g)].map((column) => (column[1] ?? '').replaceAll('``', '`')),
  }));
  return [{ rights, on, database, table, option: /WITH GRANT OPTION/i.test(text), to }];
}

function widthOf(
  outbox: Outbox,
  tables: readonly TableFacts[],
  grants: readonly Grant[],
  needed: ReturnType<typeof neededRights> | null,
): RoleFacts['wide'] {
  const wide: RoleFacts['wide'] = [];
  for (const { rights, on, table, option, to } of grants) {
    const names = rights.map(({ name }) => name);
    if (on === '*.*' && (option || names.some((name) => GRAVE.test(name))))
      return [{ code: 'superuser', on: '', revoke: `REVOKE ALL PRIVILEGES, GRANT OPTION FROM ${to};` }];
    const own = tables.find(({ place }) => place.table.table === table);
    if (table !== '*' && own === undefined) continue;
    const allowed = own === undefined || needed === null ? null : (needed.get(own.place) ?? null);
    const excess = rights.filter((right) => WRITES.test(right.name) && !isNeeded(right, allowed));
    if (excess.length === 0) continue;
    const whole = excess.filter(({ columns }) => columns.length === 0);
    const columns = excess.flatMap((right) => right.columns.filter((column) => allowed === null || !allowed.update.has(column)));
    const { identifier } = outbox.database.engine.quote;
    if (whole.length > 0)
      wide.push({
        code: 'table_rights',
        on: `${on}: ${whole.map(({ name }) => name).join(', ')}`,
        revoke: `REVOKE ${whole.map(({ name }) => name).join(', ')} ON ${on} FROM ${to};`,
      });
    if (columns.length > 0)
      wide.push({
        code: 'column_rights',
        on: `${on}: ${columns.join(', ')}`,
        revoke: `REVOKE UPDATE (${columns.map(identifier).join(', ')}) ON ${on} FROM ${to};`,
      });
  }
  return wide;
}

function isNeeded({ name, columns }: Grant['rights'][number], allowed: Rights | null): boolean {
  if (allowed === null) return false;
  if (name === 'INSERT') return allowed.insert;
  if (name === 'DELETE') return allowed.delete;
  return name === 'UPDATE' && columns.length > 0 && columns.every((column) => allowed.update.has(column));
}
