import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { type Db, type TableName, type TableRules, type TriggerRules } from '../description';
import { DatabaseFailure } from '../failure';
import { TRANSACTIONAL } from './describe';
import { holds } from './grants';

/** A few catalogue statements for one table after the other; opens those tables, locks nothing. */
export async function tableRules(db: Db, tables: Required<TableName>[]): Promise<TableRules[]> {
  const rules: TableRules[] = [];
  for (const table of tables) rules.push(await rulesOf(db, table));
  return rules;
}

export const tableSignatures = async (db: Db, tables: Required<TableName>[]): Promise<string[]> =>
  (await tableRules(db, tables)).map(({ signature }) => signature);

async function rulesOf(db: Db, { schema, table }: Required<TableName>): Promise<TableRules> {
  const at = sql`table_schema = coalesce(${schema}, database()) and table_name = ${table}`;
  const { rows: found } = await sql<{ engine: string | null }>`
    select engine as engine from information_schema.tables where ${at}`.execute(db);
  if (found[0] === undefined) throw new DatabaseFailure('missing', null, new Error('a table of this outbox is gone'));
  const { rows: columns } = await sql<Record<'name' | 'type' | 'nullable' | 'extra', string>>`
    select column_name as name, column_type as type, is_nullable as nullable, extra as extra
    from information_schema.columns where ${at} order by ordinal_position`.execute(db);
  const triggers = await triggersOf(db, schema, table);
  return {
    triggers,
    rewritten: false,
    rowSecurity: false,
    transactional: TRANSACTIONAL.test(found[0].engine ?? ''),
    // Without triggers, which only some roles may see: the signature must be the same for all.
    signature: createHash('md5')
      .update(JSON.stringify(columns.map(({ name, type, nullable, extra }) => [name, type, nullable, extra])))
      .digest('hex'),
  };
}

/** Only roles with the TRIGGER right see triggers; null if this role sees none and lacks the right. */
async function triggersOf(db: Db, schema: string | null, table: string): Promise<TriggerRules[] | null> {
  const { rows } = await sql<Record<'name' | 'timing' | 'event' | 'source', string>>`
    select trigger_name as name, action_timing as timing, event_manipulation as event, action_statement as source
    from information_schema.triggers where event_object_schema = coalesce(${schema}, database()) and event_object_table = ${table}
    order by trigger_name`.execute(db);
  if (rows.length === 0 && !(await holds(db, 'TRIGGER', schema, table))) return null;
  return rows.map(({ name, timing: when, event, source }) => {
    const timing = /^before$/i.test(when) ? 'before' : 'after';
    const events = [event.toLowerCase() as TriggerRules['events'][number]];
    return { name, timing, events, calls: name, language: 'sql', source, enabled: true };
  });
}
