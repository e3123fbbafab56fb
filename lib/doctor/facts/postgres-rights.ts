import { sql } from 'kysely';
import type { Db, TableName } from '@/lib/database/description';
import type { Place } from '@/lib/shape/bound';
import { ARCHIVE_COLUMNS, archiveTable, recordTables } from '@/lib/outbox/companions';
import { quotedName, type Outbox } from '@/lib/outbox/outbox';
import { neededRights, tablesRead, type Rights } from '@/lib/outbox/rights/rights';
import { excessive, neededOnRows, type Facts, type RoleFacts, type TableFacts } from './facts';

type RoleRow = Record<'name' | 'tables' | 'reaches' | 'borrowed', string> & Record<'super' | 'creates', boolean>;

const WRITES = `array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']`;

/** Rights granted on a table or its columns, to any role. */
const GRANTED = `select grantee, privilege_type, null as attname from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner)))
  union all select e.grantee, e.privilege_type, a.attname from pg_attribute a cross join lateral aclexplode(a.attacl) as e where a.attrelid = c.oid and a.attnum > 0`;

/** Rights to write in table `c` that role `r` has through a role it is a direct member of; those of PUBLIC have no role. */
const THROUGH = `select d.rolname as name, array_agg(distinct x.privilege_type) as rights
  from (select grantee, privilege_type from (${GRANTED}) as granted union all select oid, unnest(array['INSERT', 'UPDATE', 'DELETE']) from pg_roles where rolname = 'pg_write_all_data') as x
    left join pg_roles d on d.oid in (select roleid from pg_auth_members where member = r.oid) and x.grantee <> 0 and pg_has_role(r.oid, d.oid, 'USAGE')
      and pg_has_role(r.oid, x.grantee, 'USAGE') and (x.grantee = d.oid or not d.rolsuper and pg_has_role(d.oid, x.grantee, 'USAGE'))
  where x.privilege_type = any(${WRITES}) and x.grantee <> r.oid and (x.grantee = 0 or d.oid is not null) group by 1`;

/** What role `r` needs and has only through other roles: CONNECT, USAGE and SELECT for watching, and the rights to write records. */
const BORROWED = `select 1 as step, 'CONNECT' as what, '[]'::json as columns, 'DATABASE ' || quote_ident(datname) as place from pg_database b where datname = current_database()
    and has_database_privilege(r.oid, b.oid, 'CONNECT') and not exists (select from aclexplode(coalesce(datacl, acldefault('d', datdba))) where privilege_type = 'CONNECT' and grantee in (0, r.oid))
  union all select 2, 'USAGE', '[]', 'SCHEMA ' || quote_ident(nspname) from pg_namespace n where oid in (select relnamespace from looked)
    and has_schema_privilege(r.oid, oid, 'USAGE') and not exists (select from aclexplode(coalesce(nspacl, acldefault('n', nspowner))) where privilege_type = 'USAGE' and grantee in (0, r.oid))
  union all select 3, 'SELECT', case when has_table_privilege(r.oid, c.oid, 'SELECT') then '[]' else own.columns end, c.name from looked c cross join lateral (
      select json_agg(a.attname order by a.attnum) as columns from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT')
        and not exists (select from (${GRANTED}) as g where g.privilege_type = 'SELECT' and g.grantee in (0, r.oid) and coalesce(g.attname, a.attname) = a.attname)) as own
    where own.columns is not null
  union all select 4, k.privilege, case when k.attname is null then '[]' else json_build_array(k.attname) end, c.name from looked c join kept k on k.name = c.name
    where k.operates = r.rolname and case when k.attname is null then has_table_privilege(r.oid, c.oid, k.privilege) else has_column_privilege(r.oid, c.oid, k.attname, k.privilege) end
      and not exists (select from (${GRANTED}) as g where g.privilege_type = k.privilege and g.grantee in (0, r.oid) and (g.attname is null or g.attname = k.attname))`;

/** The server's own roles through which role `r` reaches its programs and files, and the role that `r` is a direct member of for that. */
const REACHES = `select p.rolname as what, d.rolname as role from pg_roles p
    join pg_roles d on d.oid in (select roleid from pg_auth_members where member = r.oid) and pg_has_role(r.oid, d.oid, 'USAGE') and (d.oid = p.oid or not d.rolsuper and pg_has_role(d.oid, p.oid, 'USAGE'))
  where p.rolname in ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')`;

/** What reader and operator may do beyond what they need, from the catalogue of roles and the tables' rights. */
export async function readRoles(db: Db, outbox: Outbox, tables: readonly TableFacts[]): Promise<RoleFacts[]> {
  const { engine, roles } = outbox.database;
  const { operator } = roles;
  const nameOf = (name: TableName): string => quotedName(outbox.database.engine, name);
  const { headers, events } = recordTables(engine);
  const archive = archiveTable(engine, outbox.id);
  /** The operator's rights on them that an installation grants. */
  const kept = [
    [headers, 'INSERT', null],
    [headers, 'UPDATE', 'outcome'],
    [events, 'INSERT', null],
    [archive, 'INSERT', null],
    [archive, 'DELETE', null],
    [archive, 'UPDATE', ARCHIVE_COLUMNS.reason],
  ] as const;
  const read = [...tablesRead(outbox), headers, events, archive];
  const { rows } = await sql<RoleRow>`
    with looked as (select t.name, c.oid, c.relacl, c.relowner, c.relnamespace from unnest(${read.map(nameOf)}::text[], ${read.map(({ schema }) => schema)}::text[], ${read.map(({ table }) => table)}::text[]) as t(name, own_schema, own_table)
        join pg_class c on c.relname = t.own_table join pg_namespace n on n.oid = c.relnamespace where case when t.own_schema is null then pg_table_is_visible(c.oid) else n.nspname = t.own_schema end),
      kept as (select ${operator ?? ''}::text as operates, * from unnest(${kept.map(([table]) => nameOf(table))}::text[], ${kept.map(([, right]) => right)}::text[], ${kept.map(([, , column]) => column)}::text[]) as k(name, privilege, attname))
    select r.rolname::text as name, r.rolsuper as super, r.rolcreaterole or r.rolcreatedb as creates,
      (select coalesce(json_agg(s order by s.what, s.role), '[]') from (${sql.raw(REACHES)}) as s)::text as reaches,
      (select coalesce(json_agg(b order by b.step, b.place), '[]') from (${sql.raw(BORROWED)}) as b)::text as borrowed,
      (select json_agg(json_build_object('table', t.name, 'owns', pg_has_role(r.oid, c.relowner, 'USAGE'), 'rights', (select coalesce(json_agg(p), '[]') from unnest(array['INSERT', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']) as p
          where has_table_privilege(r.oid, c.oid, p)),
        'through', (select coalesce(json_agg(json_build_object('role', g.name, 'rights', g.rights) order by g.name), '[]') from (${sql.raw(THROUGH)}) as g),
        'updates', (select coalesce(json_agg(a.attname order by a.attnum), '[]') from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and has_column_privilege(r.oid, c.oid, a.attnum, 'UPDATE'))))
        from unnest(${tables.map(({ quoted }) => quoted)}::text[]) as t(name) join pg_class c on c.oid = t.name::regclass)::text as tables
    from pg_roles r where r.rolname = current_user or r.rolname = ${operator ?? ''} order by r.rolname <> current_user`.execute(db);
  const [reader, ...others] = rows;
  if (reader === undefined) return [];
  const writer = operator === null ? undefined : operator === reader.name ? reader : others[0];
  return [
    ...(writer === reader ? [] : [{ key: 'reader' as const, name: reader.name, wide: widthOf(outbox, reader, 'reader', tables) }]),
    ...(writer === undefined ? [] : [{ key: 'operator' as const, name: writer.name, wide: widthOf(outbox, writer, 'operator', tables) }]),
  ];
}

interface TableRights {
  table: string;
  owns: boolean;
  rights: string[];
  updates: string[];
  /** Roles through which the role may write there; null for PUBLIC. */
  through: { role: string | null; rights: string[] }[];
}

function widthOf(outbox: Outbox, row: RoleRow, key: RoleFacts['key'], tables: readonly TableFacts[]): RoleFacts['wide'] {
  const quotedOf = (place: Place): string => tables.find((table) => table.place === place)?.quoted ?? '';
  const needs = new Map([...neededRights(outbox)].map(([place, needed]) => [quotedOf(place), needed]));
  const { identifier } = outbox.database.engine.quote;
  const role = identifier(row.name);
  if (row.super) return [{ code: 'superuser', on: '', revoke: `ALTER ROLE ${role} NOSUPERUSER;` }];
  const wide: RoleFacts['wide'] = [];
  if (row.creates) wide.push({ code: 'creates_roles', on: '', revoke: `ALTER ROLE ${role} NOCREATEROLE NOCREATEDB;` });
  // Needed rights are granted again after everything is revoked, and before a role that gave them is left.
  const again: string[] = [];
  const updatesAgain = ({ table, updates }: TableRights, allowed: Rights | undefined): string[] => {
    const columns = updates.filter((name) => allowed?.update.has(name)).map(identifier);
    return columns.length === 0 ? [] : [`GRANT UPDATE (${columns.join(', ')}) ON ${table} TO ${role};`];
  };
  const reaches = JSON.parse(row.reaches) as { what: string; role: string }[];
  const left = new Set(reaches.map(({ role: by }) => by));
  if (reaches.length > 0) wide.push({ code: 'server', on: [...new Set(reaches.map(({ what }) => what))].join(', '), revoke: null });
  const rightsOf = JSON.parse(row.tables) as TableRights[];
  for (const one of rightsOf) {
    const { table, owns, rights, updates, through } = one;
    if (owns) {
      // An owner may do everything: revoking single rights changes nothing.
      wide.push({ code: 'owner', on: table, revoke: null });
      continue;
    }
    const allowed = key === 'reader' ? undefined : needs.get(table);
    const othersLess = (taken: readonly string[]): string[] =>
      through.flatMap((by) => {
        const less = by.rights.filter((right) => taken.includes(right));
        if (less.length === 0) return [];
        if (by.role === null) return [`REVOKE ${less.join(', ')} ON ${table} FROM PUBLIC;`];
        // Others may be in that role for its rights: it keeps them, and this role leaves it.
        left.add(by.role);
        return [];
      });
    const revoke = (rightsToo: readonly string[], ...what: string[]): string =>
      [...what.map((one) => `REVOKE ${one} ON ${table} FROM ${role};`), ...othersLess(rightsToo)].join('\n');
    const excess = rights.filter((right) => !neededOnRows(allowed).includes(right));
    wide.push(...excessive('table_rights', table, excess, revoke(excess, excess.join(', '))));
    const columns = updates.filter((name) => allowed?.update.has(name) !== true);
    if (columns.length === 0) continue;
    // A right on the whole table cannot be narrowed by column: it is revoked, and the needed columns are granted again.
    const all = revoke(['UPDATE'], 'UPDATE', `UPDATE (${columns.map(identifier).join(', ')})`);
    wide.push(...excessive('column_rights', table, columns, all));
    again.push(...updatesAgain(one, allowed));
  }
  const by = (right: string, { through }: TableRights): boolean =>
    through.some((one) => one.role !== null && left.has(one.role) && one.rights.includes(right));
  for (const one of rightsOf) {
    const allowed = one.owns || key === 'reader' ? undefined : needs.get(one.table);
    if (by('UPDATE', one)) again.push(...updatesAgain(one, allowed));
    const rows = neededOnRows(allowed).filter((right) => by(right, one));
    if (rows.length > 0) again.push(`GRANT ${rows.join(', ')} ON ${one.table} TO ${role};`);
  }
  if (left.size > 0)
    for (const { what, columns, place } of JSON.parse(row.borrowed) as { what: string; columns: string[]; place: string }[])
      again.push(`GRANT ${what}${columns.length === 0 ? '' : ` (${columns.map(identifier).join(', ')})`} ON ${place} TO ${role};`);
  const last = wide.at(-1);
  if (last !== undefined) {
    const leave = [...left].map((name) => `REVOKE ${identifier(name)} FROM ${role};`);
    last.revoke = [...(last.revoke === null ? [] : [last.revoke]), ...new Set(again), ...leave].join('\n') || null;
  }
  return wide;
}

/** Policies that hide rows of these tables from the reader; one that is always true hides nothing. By oid. */
export async function readHidden(db: Db, tables: readonly TableFacts[]): Promise<Facts['hidden']> {
  const restricts = sql`exists (select from pg_policy p where p.polrelid = t.name::regclass and not p.polpermissive and p.polcmd in ('r', '*') and pg_get_expr(p.polqual, p.polrelid) <> 'true'
    and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as r(role) where r.role <> 0 and pg_has_role(r.role, 'USAGE'))))`;
  const { rows } = await sql<{ table: string; policies: number; restricted: boolean }>`
    select t.name as table, (select count(*) from pg_policy p where p.polrelid = t.name::regclass)::int as policies, ${restricts} as restricted from unnest(${tables.map(({ quoted }) => quoted)}::text[]) as t(name)
    where row_security_active(t.name::regclass) and (not exists (select from pg_policy p where p.polrelid = t.name::regclass and p.polpermissive and p.polcmd in ('r', '*')
        and pg_get_expr(p.polqual, p.polrelid) = 'true' and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as r(role) where r.role <> 0 and pg_has_role(r.role, 'USAGE'))))
      or ${restricts})`.execute(db);
  return rows;
}
