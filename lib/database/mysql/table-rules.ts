import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, TableName } from '../engine';
import { DatabaseFailure } from '../failure';
import type { ColumnRules, TableRules, TriggerRules } from '../table-rules';
import { labelsOf } from './describe';
import { holds } from './privileges';
import { serverOf } from './server';

interface ColumnRow {
  name: string;
  type: string;
  base: string;
  nullable: string;
  standard: string | null;
  extra: string;
  length: string | number | null;
}

interface KeyRow {
  name: string;
  own: string;
  schema_name: string;
  table_name: string;
  theirs: string;
}

interface TriggerRow {
  name: string;
  timing: string;
  event: string;
  source: string;
}

/** Engines that take a change back. */
const TRANSACTIONAL = /^(innodb|rocksdb|ndbcluster)$/i;

/** A few looks into the catalogue, one table after the other; opens those tables, locks nothing. */
export async function readMysqlTableRules(db: Db, tables: Required<TableName>[]): Promise<TableRules[]> {
  const { mariadb } = await serverOf(db);
  const rules: TableRules[] = [];
  for (const table of tables) rules.push(await rulesOf(db, table, mariadb));
  return rules;
}

async function rulesOf(db: Db, { schema, table }: Required<TableName>, mariadb: boolean): Promise<TableRules> {
  const at = sql`table_schema = coalesce(${schema}, database()) and table_name = ${table}`;
  const { rows: found } = await sql<{ engine: string | null }>`select engine as engine from information_schema.tables where ${at}`.execute(
    db,
  );
  if (found[0] === undefined) throw new DatabaseFailure('missing', null, new Error('a table of this outbox is gone'));
  const { rows: columns } =
    await sql<ColumnRow>`select column_name as name, column_type as type, data_type as base, is_nullable as nullable, column_default as standard,
      extra as extra, character_maximum_length as length from information_schema.columns where ${at} order by ordinal_position`.execute(db);
  // On MariaDB checks of two tables may have one name, and one of a column has the column's.
  const sameTable = mariadb ? sql` and c.table_name = t.table_name` : sql``;
  const { rows: checks } = await sql<{ name: string; text: string }>`select c.constraint_name as name, c.check_clause as text
    from information_schema.table_constraints t join information_schema.check_constraints c
      on c.constraint_schema = t.constraint_schema and c.constraint_name = t.constraint_name${sameTable}
    where t.constraint_type = 'CHECK' and t.table_schema = coalesce(${schema}, database()) and t.table_name = ${table}`.execute(db);
  const { rows: keys } = await sql<KeyRow>`select constraint_name as name, column_name as own, referenced_table_schema as schema_name,
      referenced_table_name as table_name, referenced_column_name as theirs
    from information_schema.key_column_usage where ${at} and referenced_table_name is not null order by constraint_name, ordinal_position`.execute(
    db,
  );
  const triggers = await triggersOf(db, schema, table);
  const names = columns.map(({ name }) => name);
  return {
    columns: new Map(columns.map((column) => [column.name, columnRules(column)])),
    checks: checks.map(({ name, text: told }) => {
      const text = plainly(mariadb ? told : unescaped(told));
      return { name, text, columns: names.filter((column) => text.includes(`\`${column}\``)) };
    }),
    foreignKeys: foreignKeys(keys),
    triggers,
    rewritten: false,
    rowSecurity: false,
    transactional: TRANSACTIONAL.test(found[0].engine ?? ''),
    // Without the triggers: one role may see them and another may not.
    signature: createHash('md5')
      .update(JSON.stringify(columns.map(({ name, type, nullable, extra }) => [name, type, nullable, extra])))
      .digest('hex'),
  };
}

/** MySQL tells the text of a check as it would stand in a literal, the bytes of its characters taken for characters of one byte. */
function unescaped(text: string): string {
  const written = text.replace(/\\(.)/gs, '$1');
  const bytes = Buffer.from(written, 'latin1');
  return bytes.toString('latin1') === written ? bytes.toString('utf8') : written;
}

/** Texts in it as the standard writes them, where the servers say their character set and mark quotes by backslashes. */
const plainly = (text: string): string =>
  text.replace(/(`(?:[^`]|``)*`)|(?:_\w+)?'((?:[^'\\]|''|\\.)*)'/gs, (whole, name: string | undefined, literal: string) =>
    name === undefined ? `'${literal.replace(/\\(.)/gs, (_, character: string) => (character === "'" ? "''" : character))}'` : whole,
  );

function columnRules({ type, base, standard, extra, length }: ColumnRow): ColumnRules {
  const counted = /\bauto_increment\b/i.test(extra);
  return {
    // MariaDB prints the default of a column that may be empty as the word NULL.
    default: standard === null || standard === 'NULL' ? null : standard,
    counted,
    followsGiven: counted,
    labels: labelsOf(type),
    maxLength: length === null || !/char/i.test(base) ? null : Number(length),
  };
}

function foreignKeys(rows: KeyRow[]): TableRules['foreignKeys'] {
  const byName = new Map<string, TableRules['foreignKeys'][number]>();
  for (const { name, own, schema_name: schema, table_name: table, theirs } of rows) {
    const key = byName.get(name) ?? { name, columns: [], table: { schema, table }, references: [] };
    key.columns.push(own);
    key.references.push(theirs);
    byName.set(name, key);
  }
  return [...byName.values()];
}

/** Triggers are for the eyes of those who may make them; whoever sees none and may not is told that nobody knows. */
async function triggersOf(db: Db, schema: string | null, table: string): Promise<TriggerRules[] | null> {
  const { rows } =
    await sql<TriggerRow>`select trigger_name as name, action_timing as timing, event_manipulation as event, action_statement as source
    from information_schema.triggers where event_object_schema = coalesce(${schema}, database()) and event_object_table = ${table} order by trigger_name`.execute(
      db,
    );
  if (rows.length === 0 && !(await holds(db, 'TRIGGER', schema, table))) return null;
  return rows.map(({ name, timing, event, source }) => ({
    name,
    timing: /^before$/i.test(timing) ? 'before' : 'after',
    events: [event.toLowerCase() as 'insert' | 'update' | 'delete'],
    calls: name,
    language: 'sql',
    source,
    enabled: true,
  }));
}
