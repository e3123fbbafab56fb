import { sql, type RawBuilder } from 'kysely';
import type { Db, RoleRights, TableName, TableRules, TriggerRules } from '../description';
import { DatabaseFailure } from '../failure';

type RulesRow = Pick<TableRules, 'rewritten' | 'rowSecurity' | 'signature'> & { triggers: string };

/** pg_trigger.tgtype, bit by bit. */
const BEFORE = 2;
const INSTEAD = 64;
const EVENTS = [
  ['insert', 4],
  ['delete', 8],
  ['update', 16],
] as const;

/** CTE of the tables with their positions, so that a statement can return one row for each in that order. */
const inOrder = (tables: TableName[]): RawBuilder<unknown> =>
  sql`wanted(position, schema_name, table_name) as (values ${sql.join(tables.map(({ schema, table }, at) => sql`(${sql.lit(at)}, ${schema}, ${table})`))})`;

const FROM_WANTED = sql`from wanted w join pg_namespace n on n.nspname = w.schema_name join pg_class c on c.relnamespace = n.oid and c.relname = w.table_name`;
const SIGNATURE = sql`md5(concat_ws('|',
        (select string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated, a.attidentity), ',' order by a.attnum)
          from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
        (select string_agg(concat_ws(' ', g.tgname, g.tgtype, g.tgenabled, md5(p.prosrc)), ',' order by g.tgname)
          from pg_trigger g join pg_proc p on p.oid = g.tgfoid where g.tgrelid = c.oid and not g.tgisinternal),
        (select string_agg(r.rulename || md5(pg_get_ruledef(r.oid)), ',' order by r.rulename) from pg_rewrite r where r.ev_class = c.oid and r.rulename <> '_RETURN')))`;

function allOf<Row>(tables: TableName[], rows: Row[]): Row[] {
  if (rows.length !== tables.length) throw new DatabaseFailure('missing', null, new Error('a table of this outbox is gone'));
  return rows;
}

export async function tableSignatures(db: Db, tables: Required<TableName>[]): Promise<string[]> {
  const { rows } = await sql<Pick<TableRules, 'signature'>>`with ${inOrder(tables)} select ${SIGNATURE} as signature
    ${FROM_WANTED} order by w.position`.execute(db);
  return allOf(tables, rows).map(({ signature }) => signature);
}

/** Served by the catalogue's indexes on oids; any role may read it. */
export async function tableRules(db: Db, tables: Required<TableName>[]): Promise<TableRules[]> {
  const { rows } = await sql<RulesRow>`
    with ${inOrder(tables)} select
      (select coalesce(json_agg(json_build_object('name', g.tgname, 'type', g.tgtype, 'enabled', g.tgenabled <> 'D', 'calls', pn.nspname || '.' || p.proname,
          'language', l.lanname, 'source', case when l.lanname in ('c', 'internal') then '' else p.prosrc end) order by g.tgname), '[]')
        from pg_trigger g join pg_proc p on p.oid = g.tgfoid join pg_namespace pn on pn.oid = p.pronamespace join pg_language l on l.oid = p.prolang
        where g.tgrelid = c.oid and not g.tgisinternal)::text as triggers,
      exists (select from pg_rewrite r where r.ev_class = c.oid and r.rulename <> '_RETURN') as rewritten,
      c.relrowsecurity as "rowSecurity",
      ${SIGNATURE} as signature
    ${FROM_WANTED} order by w.position`.execute(db);
  return allOf(tables, rows).map((row) => ({
    ...row,
    transactional: true,
    triggers: (JSON.parse(row.triggers) as TriggerRow[]).map(toTrigger),
  }));
}

type TriggerRow = Omit<TriggerRules, 'timing' | 'events'> & { type: number };

function toTrigger({ type, ...trigger }: TriggerRow): TriggerRules {
  return {
    ...trigger,
    timing: (type & INSTEAD) !== 0 ? 'instead' : (type & BEFORE) !== 0 ? 'before' : 'after',
    events: EVENTS.flatMap(([event, bit]) => ((type & bit) !== 0 ? [event] : [])),
  };
}

type RightsRow = Omit<RoleRights, 'updateColumns'> & { columns: string };

/** Served by the catalogue's indexes on names and oids; locks nothing. */
export async function roleRights(db: Db, role: string, tables: Required<TableName>[]): Promise<RoleRights[] | null> {
  // The role is joined: naming one that does not exist is an error, which ends the transaction.
  const { rows } = await sql<RightsRow>`
    with ${inOrder(tables)} select has_schema_privilege(r.oid, n.oid, 'USAGE') as usage,
      has_table_privilege(r.oid, c.oid, 'SELECT') and (not c.relrowsecurity or r.rolsuper or r.rolbypassrls
        or (not c.relforcerowsecurity and pg_has_role(r.oid, c.relowner, 'USAGE'))
        or exists (select from pg_policy p where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('r', '*')
          and (0 = any(p.polroles) or exists (select from unnest(p.polroles) as named(role) where named.role <> 0 and pg_has_role(r.oid, named.role, 'USAGE'))))) as "select",
      has_table_privilege(r.oid, c.oid, 'INSERT') as "insert", has_table_privilege(r.oid, c.oid, 'DELETE') as "delete",
      (select coalesce(json_agg(a.attname), '[]') from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and has_column_privilege(r.oid, c.oid, a.attnum, 'UPDATE'))::text as columns
    ${FROM_WANTED} cross join pg_roles r where r.rolname = ${role} order by w.position`.execute(db);
  if (rows.length !== tables.length) return null;
  return rows.map(({ columns, ...rights }) => ({ ...rights, updateColumns: new Set(JSON.parse(columns) as string[]) }));
}

/** True if the role may call any overload: which one is meant shows in a call only. Served by the catalogue's indexes; locks nothing. */
export async function callRights(db: Db, role: string, functions: { schema: string; name: string }[]): Promise<boolean[]> {
  if (functions.length === 0) return [];
  const { rows } = await sql<{ may: boolean }>`
    with ${inOrder(functions.map(({ schema, name }) => ({ schema, table: name })))} select exists (select from pg_namespace n join pg_proc p on p.pronamespace = n.oid cross join pg_roles r
      where n.nspname = w.schema_name and p.proname = w.table_name and r.rolname = ${role}
        and has_schema_privilege(r.oid, n.oid, 'USAGE') and has_function_privilege(r.oid, p.oid, 'EXECUTE')) as may
    from wanted w order by w.position`.execute(db);
  return rows.map(({ may }) => may);
}
