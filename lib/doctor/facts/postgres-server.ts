import { sql } from 'kysely';
import type { Db, Engine } from '@/lib/database/engine';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Facts, RoleFacts, SnapshotHolder, TableFacts } from './facts';
import { neededRights } from '@/lib/outbox/rights';

const HOLDERS_SHOWN = 20;

/** Left out where the role may not see slots: naming the view would fail the statement. */
const SLOT_HOLDERS = `union all select 'slot', slot_name::text, '', coalesce(plugin::text, slot_type), coalesce(database::text, ''), null, age(xmin)::float8, case when active then 'active' else 'inactive' end
    from pg_replication_slots where xmin is not null`;

/**
 * Transactions whose snapshot keeps row versions of this database alive, oldest first. A row per connection, prepared
 * transaction and slot; times of other roles' sessions need pg_read_all_stats, their snapshots do not.
 */
export async function readHolders(db: Db, quote: Engine['quote'], seesSlots: boolean): Promise<SnapshotHolder[]> {
  const { rows } = await sql<Omit<SnapshotHolder, 'end'>>`
    select 'session' as kind, pid::text as who, coalesce(usename::text, '') as "user", coalesce(application_name, '') as application, coalesce(datname::text, '') as database,
      (extract(epoch from clock_timestamp() - xact_start) * 1000)::float8 as "ageMs", greatest(age(backend_xmin), age(backend_xid))::float8 as transactions, state
    from pg_stat_activity where (backend_xmin is not null or backend_xid is not null) and (datname = current_database() or (datname is null and backend_type = 'walsender')) and pid <> pg_backend_pid()
      and coalesce(backend_type, '') <> 'autovacuum worker' and coalesce(query, '') !~* '^\\s*(vacuum|create\\s+(unique\\s+)?index\\s+concurrently|reindex)'
    union all select 'prepared', gid, owner::text, '', database::text, (extract(epoch from clock_timestamp() - prepared) * 1000)::float8, age(transaction)::float8, null
    from pg_prepared_xacts where database = current_database()
    ${seesSlots ? sql.raw(SLOT_HOLDERS) : sql``}
    order by transactions desc limit ${sql.lit(HOLDERS_SHOWN)}`.execute(db);
  return rows.map((row) => ({ ...row, end: endOf(row, quote) }));
}

function endOf({ kind, who }: Pick<SnapshotHolder, 'kind' | 'who'>, { literal }: Engine['quote']): string {
  if (kind === 'session') return `SELECT pg_terminate_backend(${who});`;
  return kind === 'prepared' ? `ROLLBACK PREPARED ${literal(who)};` : `SELECT pg_drop_replication_slot(${literal(who)});`;
}

/** Policies that keep rows of these tables from the reader; one that lets everything through hides nothing. By oid. */
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

interface RoleRow {
  name: string;
  super: boolean;
  creates: boolean;
  tables: string;
}

const WRITES = `array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']`;

/** What reader and operator may do beyond what they need, from the catalogue of roles and the tables' rights. */
export async function readRoles(db: Db, outbox: Outbox, tables: readonly TableFacts[]): Promise<RoleFacts[]> {
  const { operator } = outbox.database.roles;
  const { rows } = await sql<RoleRow>`
    select r.rolname::text as name, r.rolsuper as super, r.rolcreaterole or r.rolcreatedb as creates,
      (select json_agg(json_build_object('table', t.name, 'owns', pg_has_role(r.oid, c.relowner, 'USAGE'), 'rights', (select coalesce(json_agg(p), '[]') from unnest(array['INSERT', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']) as p
          where has_table_privilege(r.oid, c.oid, p)),
        'through', (select coalesce(json_agg(json_build_object('role', g.name, 'rights', g.rights)), '[]') from (
            select m.rolname as name, array_agg(distinct x.privilege_type) as rights from (select * from aclexplode(c.relacl)
                union all select e.* from pg_attribute a cross join lateral aclexplode(a.attacl) as e where a.attrelid = c.oid and a.attnum > 0) as x left join pg_roles m on m.oid = x.grantee
              where x.privilege_type = any(${sql.raw(WRITES)}) and x.grantee <> r.oid and (x.grantee = 0 or pg_has_role(r.oid, x.grantee, 'USAGE')) group by 1
            union all select m.rolname, array['INSERT', 'UPDATE', 'DELETE'] from pg_roles m where m.rolname = 'pg_write_all_data' and pg_has_role(r.oid, m.oid, 'USAGE')) as g),
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
  /** Roles by which the role has rights to write there; null for everybody. */
  through: { role: string | null; rights: string[] }[];
}

function widthOf(outbox: Outbox, row: RoleRow, key: RoleFacts['key'], tables: readonly TableFacts[]): RoleFacts['wide'] {
  const needs = new Map(
    [...neededRights(outbox)].map(([place, needed]) => [tables.find((table) => table.place === place)?.quoted ?? '', needed]),
  );
  const { identifier } = outbox.database.engine.quote;
  const role = identifier(row.name);
  if (row.super) return [{ code: 'superuser', on: '', revoke: `ALTER ROLE ${role} NOSUPERUSER;` }];
  const wide: RoleFacts['wide'] = row.creates
    ? [{ code: 'creates_roles', on: '', revoke: `ALTER ROLE ${role} NOCREATEROLE NOCREATEDB;` }]
    : [];
  for (const { table, owns, rights, updates, through } of JSON.parse(row.tables) as TableRights[]) {
    if (owns) {
      // An owner may do everything: taking single rights back would change nothing.
      wide.push({ code: 'owner', on: table, revoke: null });
      continue;
    }
    const allowed = key === 'reader' ? undefined : needs.get(table);
    // What comes by another role is not taken back from this one: it leaves that role, or that role gives less where the rest is needed.
    const needsOf = (given: string[]): string[] =>
      given.filter(
        (right) =>
          (right === 'INSERT' && allowed?.insert) ||
          (right === 'DELETE' && allowed?.delete) ||
          (right === 'UPDATE' && (allowed?.update.size ?? 0) > 0),
      );
    const othersLess = (excessive: readonly string[]): string[] =>
      through
        .map((one) => ({ ...one, less: one.rights.filter((right) => excessive.includes(right)) }))
        .filter(({ less }) => less.length > 0)
        .map((one) => {
          if (one.role === null) return `REVOKE ${one.less.join(', ')} ON ${table} FROM PUBLIC;`;
          return needsOf(one.rights).length === 0
            ? `REVOKE ${identifier(one.role)} FROM ${role};`
            : `REVOKE ${one.less.join(', ')} ON ${table} FROM ${identifier(one.role)};`;
        });
    const excess = rights.filter(
      (right) => !(right === 'INSERT' && allowed?.insert === true) && !(right === 'DELETE' && allowed?.delete === true),
    );
    if (excess.length > 0)
      wide.push({
        code: 'table_rights',
        on: `${table}: ${excess.join(', ')}`,
        revoke: [`REVOKE ${excess.join(', ')} ON ${table} FROM ${role};`, ...othersLess(excess)].join('\n'),
      });
    const needed = allowed?.update ?? new Set<string>();
    const columns = updates.filter((name) => !needed.has(name));
    if (columns.length > 0) {
      const again = updates.filter((name) => needed.has(name)).map(identifier);
      // A right on the whole table is not narrowed column by column: it goes, and the columns come back.
      const grant = again.length === 0 ? [] : [`GRANT UPDATE (${again.join(', ')}) ON ${table} TO ${role};`];
      wide.push({
        code: 'column_rights',
        on: `${table}: ${columns.join(', ')}`,
        revoke: [
          `REVOKE UPDATE ON ${table} FROM ${role};`,
          `REVOKE UPDATE (${columns.map(identifier).join(', ')}) ON ${table} FROM ${role};`,
          ...othersLess(['UPDATE']),
          ...grant,
        ].join('\n'),
      });
    }
  }
  return wide;
}
