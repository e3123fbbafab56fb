import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, TableName } from '../engine';
import { DatabaseFailure } from '../failure';
import type { ColumnRules, TableRules, TriggerRules } from '../table-rules';
import { serverOf } from './server';

/** What was written into a table of another kind stays when the transaction is rolled back. */
const TRANSACTIONAL = new Set(['innodb', 'rocksdb', 'ndbcluster', 'tokudb']);

interface ColumnRow {
  name: string;
  type: string;
  base: string;
  nullable: string;
  extra: string;
  preset: string | null;
  length: string | number | null;
}

interface KeyRow {
  name: string;
  col: string;
  target_schema: string;
  target: string;
  target_column: string;
}

interface TriggerRow {
  name: string;
  timing: string;
  event: string;
  source: string;
}

/**
 * Served by the catalogue, which opens these tables alone. Triggers are shown to those who may make them: to others the table
 * seems to have none, and what a proof saw is what it saw.
 */
export async function readMysqlTableRules(db: Db, tables: Required<TableName>[]): Promise<TableRules[]> {
  const { mariadb } = await serverOf(db);
  const found: TableRules[] = [];
  for (const table of tables) found.push(await rulesOf(db, table, mariadb));
  return found;
}

async function rulesOf(db: Db, { schema, table }: TableName, mariadb: boolean): Promise<TableRules> {
  const inSchema = schema === null ? sql`database()` : sql`${schema}`;
  const { rows: engines } = await sql<{ engine: string | null }>`select engine from information_schema.tables
    where table_schema = ${inSchema} and table_name = ${table}`.execute(db);
  if (engines[0] === undefined) throw new DatabaseFailure('missing', null, new Error('a table of this outbox is gone'));
  const { rows: columns } =
    await sql<ColumnRow>`select column_name as name, column_type as type, data_type as base, is_nullable as nullable, extra,
      column_default as preset, character_maximum_length as length
    from information_schema.columns where table_schema = ${inSchema} and table_name = ${table} order by ordinal_position`.execute(db);
  const { rows: keys } = await sql<KeyRow>`select constraint_name as name, column_name as col, referenced_table_schema as target_schema,
      referenced_table_name as target, referenced_column_name as target_column
    from information_schema.key_column_usage where table_schema = ${inSchema} and table_name = ${table} and referenced_table_name is not null
    order by constraint_name, ordinal_position`.execute(db);
  const { rows: triggers } =
    await sql<TriggerRow>`select trigger_name as name, action_timing as timing, event_manipulation as event, action_statement as source
    from information_schema.triggers where event_object_schema = ${inSchema} and event_object_table = ${table} order by trigger_name`.execute(
      db,
    );
  return {
    columns: new Map(columns.map((column) => [column.name, columnRules(column, mariadb)])),
    checks: await checksOf(db, inSchema, table, mariadb),
    foreignKeys: foreignKeys(keys),
    triggers: triggers.map(triggerRules),
    rewritten: false,
    rowSecurity: false,
    transactional: engines[0].engine === null || TRANSACTIONAL.has(engines[0].engine.toLowerCase()),
    // Without the triggers: reader and operator need not see the same ones, and are compared.
    // Without the triggers: reader and operator need not see the same ones, and what each sees is compared.
    signature: createHash('md5')
      .update(JSON.stringify([engines[0].engine, columns.map(({ name, type, nullable, extra }) => [name, type, nullable, extra])]))
      .digest('hex'),
  };
}

function columnRules({ type, base, extra, preset, length }: ColumnRow, mariadb: boolean): ColumnRules {
  return {
    // MariaDB prints a default of NULL as a word.
    default: mariadb && preset === 'NULL' ? null : preset,
    counted: /auto_increment/i.test(extra),
    labels: /^enum$/i.test(base) ? [...type.matchAll(/'((?:[^']|'')*)'/g)].map((match) => (match[1] ?? '').replaceAll("''", "'")) : null,
    maxLength: /^(var)?char$/i.test(base) && length !== null ? Number(length) : null,
  };
}

function foreignKeys(rows: KeyRow[]): TableRules['foreignKeys'] {
  const names = [...new Set(rows.map((row) => row.name))];
  return names.flatMap((name) => {
    const own = rows.filter((row) => row.name === name);
    const [first] = own;
    if (first === undefined) return [];
    const table = { schema: first.target_schema, table: first.target };
    return [{ name, columns: own.map((row) => row.col), table, references: own.map((row) => row.target_column) }];
  });
}

function triggerRules({ name, timing, event, source }: TriggerRow): TriggerRules {
  const events = (['insert', 'update', 'delete'] as const).filter((one) => event.toLowerCase().includes(one));
  return { name, timing: /before/i.test(timing) ? 'before' : 'after', events, calls: name, language: 'sql', source, enabled: true };
}

/** MySQL names a check's table in another view, and had no checks before 8.0. */
async function checksOf(db: Db, schema: ReturnType<typeof sql>, table: string, mariadb: boolean): Promise<TableRules['checks']> {
  const { major } = await serverOf(db);
  if (!mariadb && major < 8) return [];
  const { rows } = mariadb
    ? await sql<{
        name: string;
        text: string;
      }>`select constraint_name as name, check_clause as text from information_schema.check_constraints
        where constraint_schema = ${schema} and table_name = ${table} order by constraint_name`.execute(db)
    : await sql<{
        name: string;
        text: string;
      }>`select c.constraint_name as name, c.check_clause as text from information_schema.check_constraints c
        join information_schema.table_constraints t on t.constraint_schema = c.constraint_schema and t.constraint_name = c.constraint_name
        where t.table_schema = ${schema} and t.table_name = ${table} order by c.constraint_name`.execute(db);
  return rows.map(({ name, text }) => ({ name, text, columns: [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '') }));
}
