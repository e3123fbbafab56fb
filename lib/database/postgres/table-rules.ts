import { sql } from 'kysely';
import type { Db, TableName } from '../engine';
import { DatabaseFailure } from '../failure';
import type { TableRules, TriggerRules } from '../table-rules';

interface RulesRow {
  triggers: string;
  rewritten: boolean;
  row_security: boolean;
  signature: string;
}

/** pg_trigger.tgtype, bit by bit. */
const BEFORE = 2;
const INSTEAD = 64;
const EVENTS = [
  ['insert', 4],
  ['delete', 8],
  ['update', 16],
] as const;

/** Served by the catalogue's indexes on oids; any role may read it. */
export async function readPostgresTableRules(db: Db, tables: Required<TableName>[]): Promise<TableRules[]> {
  const wanted = sql.join(tables.map(({ schema, table }, index) => sql`(${sql.lit(index)}, ${schema}, ${table})`));
  const { rows } = await sql<RulesRow>`
    with wanted(position, schema_name, table_name) as (values ${wanted})
    select
      (select coalesce(json_agg(json_build_object('name', g.tgname, 'type', g.tgtype, 'enabled', g.tgenabled <> 'D', 'calls', pn.nspname || '.' || p.proname,
          'language', l.lanname, 'source', case when l.lanname in ('c', 'internal') then '' else p.prosrc end) order by g.tgname), '[]')
        from pg_trigger g join pg_proc p on p.oid = g.tgfoid join pg_namespace pn on pn.oid = p.pronamespace join pg_language l on l.oid = p.prolang
        where g.tgrelid = c.oid and not g.tgisinternal)::text as triggers,
      exists (select from pg_rewrite r where r.ev_class = c.oid and r.rulename <> '_RETURN') as rewritten,
      c.relrowsecurity as row_security,
      md5(concat_ws('|',
        (select string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated, a.attidentity), ',' order by a.attnum)
          from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
        (select string_agg(concat_ws(' ', g.tgname, g.tgtype, g.tgenabled, md5(p.prosrc)), ',' order by g.tgname)
          from pg_trigger g join pg_proc p on p.oid = g.tgfoid where g.tgrelid = c.oid and not g.tgisinternal),
        (select string_agg(r.rulename || md5(pg_get_ruledef(r.oid)), ',' order by r.rulename) from pg_rewrite r where r.ev_class = c.oid and r.rulename <> '_RETURN'))) as signature
    from wanted w join pg_namespace n on n.nspname = w.schema_name join pg_class c on c.relnamespace = n.oid and c.relname = w.table_name
    order by w.position`.execute(db);
  if (rows.length !== tables.length) throw new DatabaseFailure('missing', null, new Error('a table of this outbox is gone'));
  return rows.map(toRules);
}

function toRules(row: RulesRow): TableRules {
  return {
    triggers: (JSON.parse(row.triggers) as TriggerRow[]).map(toTrigger),
    rewritten: row.rewritten,
    rowSecurity: row.row_security,
    transactional: true,
    signature: row.signature,
  };
}

interface TriggerRow {
  name: string;
  type: number;
  enabled: boolean;
  calls: string;
  language: string;
  source: string;
}

function toTrigger({ type, ...trigger }: TriggerRow): TriggerRules {
  return {
    ...trigger,
    timing: (type & INSTEAD) !== 0 ? 'instead' : (type & BEFORE) !== 0 ? 'before' : 'after',
    events: EVENTS.flatMap(([event, bit]) => ((type & bit) !== 0 ? [event] : [])),
  };
}
