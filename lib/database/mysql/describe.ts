import { type RawBuilder, sql } from 'kysely';
import { groupBy } from '@/lib/shared/group-by';
import type { ChangeCounts, TableSize } from '../engine';
import { type ColumnDescription, type Db, type IndexDescription, type TableDescription, type TableName, tableRef } from '../description';
import { mysqlFailure } from './failure';
import { holds } from './grants';
import { serverOf } from './server';

export const KIND_BY_TYPE: Record<string, ColumnDescription['kind']> = {
  char: 'text', varchar: 'text', tinytext: 'text', text: 'text', mediumtext: 'text', longtext: 'text', enum: 'text', set: 'text',
  tinyint: 'integer', smallint: 'integer', mediumint: 'integer', int: 'integer', bigint: 'integer', year: 'integer',
  decimal: 'decimal', float: 'decimal', double: 'decimal', uuid: 'uuid', json: 'json',
  binary: 'binary', varbinary: 'binary', tinyblob: 'binary', blob: 'binary', mediumblob: 'binary', longblob: 'binary',
  timestamp: 'instant', datetime: 'wall_clock', date: 'wall_clock',
}; // prettier-ignore

type TableRow = Record<'s' | 't' | 'type', string> & Record<'here' | 'n', string | null>;
type ColumnRow = Record<'name' | 'type' | 'base' | 'nullable' | 'extra' | 'rights', string> &
  Record<'charset' | 'collation' | 'expression', string | null>;

/** A row of `select *`: both servers return upper-case names. Only MySQL has EXPRESSION and IS_VISIBLE, only MariaDB IGNORED. */
export interface IndexPart {
  INDEX_NAME: string;
  NON_UNIQUE: string | number;
  COLUMN_NAME: string | null;
  EXPRESSION?: string | null;
  SUB_PART: string | number | null;
  COLLATION: string | null;
  INDEX_TYPE: string;
  IS_VISIBLE?: string;
  IGNORED?: string;
}

/** Reads the catalogue. A table in the URL's own database gets a null schema. Opens that one table; locks nothing. */
export async function describeMysqlTable(db: Db, name: TableName): Promise<TableDescription | null> {
  const table = await findTable(db, name);
  if (table === null) return null;
  const { rows: columns } =
    await sql<ColumnRow>`select column_name as name, column_type as type, data_type as base, is_nullable as nullable, extra as extra,
      privileges as rights, character_set_name as charset, collation_name as collation, generation_expression as expression
    from information_schema.columns where table_schema = ${table.s} and table_name = ${table.t} order by ordinal_position`.execute(db);
  const statistics = await readStatistics(db, sql`table_schema = ${table.s} and table_name = ${table.t}`);
  const server = await serverOf(db);
  const json = server.mariadb ? await jsonColumns(db, table) : new Set<string>();
  const kind = kindOf(table);
  const every = (right: string): boolean => columns.every(({ rights }) => rights.split(',').includes(right));
  return {
    name: { schema: table.s === table.here ? null : table.s, table: table.t },
    kind,
    columns: new Map(columns.map((column) => [column.name, describeColumn(column, json)])),
    indexes: indexesOf(statistics).map((index) => computedBy(index, columns)),
    estimatedRows: kind === 'view' || table.n === null ? null : Number(table.n),
    notifies: [],
    privileges: {
      select: every('select'),
      insert: every('insert'),
      delete: await holds(db, 'DELETE', table.s, table.t),
      updateColumns: new Set(columns.filter(({ rights }) => rights.split(',').includes('update')).map((column) => column.name)),
    },
  };
}

/** A name with a dot may be one table name: CAP's tables are called `cap.published`, in any database. */
async function findTable(db: Db, { schema, table }: TableName): Promise<TableRow | null> {
  const columns = sql`select table_schema as s, database() as here, table_name as t, table_type as type, table_rows as n from information_schema.tables`;
  const look = async (where: ReturnType<typeof sql>): Promise<TableRow | null> =>
    (await sql<TableRow>`${columns} where ${where}`.execute(db)).rows[0] ?? null;
  if (schema === null) return look(sql`table_schema = database() and table_name = ${table}`);
  const whole = await look(sql`table_schema = database() and table_name = ${`${schema}.${table}`}`);
  return whole ?? look(sql`table_schema = ${schema} and table_name = ${table}`);
}

const kindOf = ({ type }: TableRow): TableDescription['kind'] =>
  /view/i.test(type) ? 'view' : /^(BASE TABLE|SYSTEM VERSIONED)$/i.test(type) ? 'table' : 'other';

function describeColumn(column: ColumnRow, json: Set<string>): ColumnDescription {
  const bare = /^(tinyint\(1\)|bit\(1\))/i.test(column.type);
  const kind = bare ? 'boolean' : json.has(column.name) ? 'json' : (KIND_BY_TYPE[column.base.toLowerCase()] ?? 'other');
  const labels = labelsOf(column.type);
  return {
    name: column.name,
    type: column.type,
    kind,
    nullable: column.nullable === 'YES',
    generated: /\b(VIRTUAL|STORED|PERSISTENT)\b/i.test(column.extra),
    ...(labels === null ? {} : { labels }),
    ...(column.charset === null || column.collation === null ? {} : { collation: { charset: column.charset, name: column.collation } }),
  };
}

/** The labels of `enum('a','b')`; null for any other type. */
export const labelsOf = (type: string): string[] | null =>
  /^enum\(/i.test(type) ? [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.replaceAll("''", "'")) : null;

/** MariaDB's JSON type is a text with a `json_valid` check. */
async function jsonColumns(db: Db, { s, t }: TableRow): Promise<Set<string>> {
  const { rows } = await sql<{ clause: string }>`select check_clause as clause from information_schema.check_constraints
    where constraint_schema = ${s} and table_name = ${t} and check_clause like '%json_valid%'`.execute(db);
  const quoted = rows.flatMap(({ clause }) => [...clause.matchAll(/json_valid\(`((?:[^`]|``)+)`\)/gi)].map(([, name = '']) => name));
  return new Set(quoted.map((name) => name.replaceAll('``', '`')));
}

/** The parts of each index of the tables that `where` selects, in their order. */
export async function readStatistics(db: Db, where: RawBuilder<unknown>): Promise<[name: string, parts: IndexPart[]][]> {
  const parts = sql<IndexPart>`select * from information_schema.statistics where ${where} order by index_name, seq_in_index`;
  return [...groupBy((await parts.execute(db)).rows, ({ INDEX_NAME }) => INDEX_NAME)];
}

/** False for an invisible or ignored index: it is maintained on every write, but the planner does not use it. */
export const isShown = ({ IS_VISIBLE: visible, IGNORED: ignored }: IndexPart): boolean => visible !== 'NO' && ignored !== 'YES';

/** Storage engines that can roll back. */
export const TRANSACTIONAL = /^(innodb|rocksdb|ndbcluster|tokudb)$/i;

function indexesOf(indexes: [name: string, parts: IndexPart[]][]): IndexDescription[] {
  return indexes.flatMap(([name, parts]) => {
    const [first] = parts;
    if (first === undefined || !isShown(first)) return [];
    // A part that is a column prefix or an expression neither orders rows nor finds whole values.
    const end = parts.findIndex((part) => part.COLUMN_NAME === null || part.SUB_PART !== null);
    const usable = end === -1 ? parts : parts.slice(0, end);
    const beginning = parts[end]?.COLUMN_NAME ?? null;
    const method = first.INDEX_TYPE.toLowerCase();
    return [
      {
        name,
        method,
        columns: usable.map((part) => part.COLUMN_NAME ?? ''),
        unique: Number(first.NON_UNIQUE) === 0 && end === -1,
        predicate: null,
        // NULLs sort below all values.
        nullsUnsaid: true as const,
        ...(beginning === null ? {} : { beginning }),
        sorted: method === 'btree' ? usable.map(({ COLLATION }) => ({ descending: COLLATION === 'D', nullsFirst: COLLATION !== 'D' })) : [],
      },
    ];
  });
}

function computedBy(index: IndexDescription, columns: ColumnRow[]): IndexDescription {
  const expression = columns.find(({ name }) => name === index.columns[0])?.expression ?? '';
  return expression === '' ? index : { ...index, expression: expression.replace(/\b_utf8mb[34]|[\s`'"\\()]/g, '') };
}

/** Served by the server's catalogue; locks nothing. */
export async function mysqlTableNames(db: Db, schema: string | null): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = ${schema ?? sql`database()`} order by table_name limit 2000`.execute(db);
  return rows.map((row) => row.name);
}

const COUNTERS = 'table_io_waits_summary_by_table';
export const CHANGE_COUNTERS = `performance_schema.${COUNTERS}`;

const schemaOf = ({ schema }: TableName): RawBuilder<unknown> => sql`${schema ?? sql`database()`}`;

/** The server's estimate from a few sampled pages, which may be half or one and a half times the real number. */
export async function tableSize(db: Db, table: TableName): Promise<TableSize> {
  const { rows } = await sql<{ n: string | number | null; options: string | null; type: string }>`select table_rows as n,
      create_options as options, table_type as type
    from information_schema.tables where table_schema = ${schemaOf(table)} and table_name = ${table.table}`.execute(db);
  const [row] = rows;
  const partitioned = /\bpartitioned\b/i.test(row?.options ?? '');
  if (row?.n != null) return { rows: Number(row.n), partitioned };
  return { rows: row?.type === 'VIEW' ? await viewRows(db, table) : Infinity, partitioned };
}

/** The planner's estimate; Infinity if the role may not see the view's definition (SHOW VIEW). */
async function viewRows(db: Db, view: TableName): Promise<number> {
  try {
    const plan = sql<Record<'id' | 'rows', string | number | null>>`explain format = traditional select 1 from ${tableRef(view)} as o`;
    const { rows } = await plan.execute(db);
    // Joined tables share an id and multiply; subqueries have other ids.
    return rows.filter(({ id }) => Number(id) === 1).reduce((product, { rows: read }) => product * Number(read ?? 1), 1);
  } catch (error) {
    if (mysqlFailure(error).code === 'no_privilege') return Infinity;
    throw error;
  }
}

export const estimateRows = async (db: Db, table: TableName): Promise<number> => (await tableSize(db, table)).rows;

/** From the performance schema, since the server's start; null if it is off or the role may not read its table. */
export async function changeCounts(db: Db, table: TableName): Promise<ChangeCounts | null> {
  const counters = sql.id('performance_schema', COUNTERS);
  // The catalogue lists the table only if the role may read it; selecting from it without that right would fail.
  const { rows: readable } = await sql`select 1 from information_schema.tables
    where table_schema = 'performance_schema' and table_name = ${COUNTERS} and @@performance_schema = 1`.execute(db);
  if (readable.length === 0) return null;
  const { rows } = await sql<Record<keyof ChangeCounts | 'handled', string>>`select count_star as handled, count_insert as inserted,
      count_update as updated, count_delete as deleted from ${counters}
    where object_type = 'TABLE' and object_schema = ${schemaOf(table)} and object_name = ${table.table}`.execute(db);
  const [row] = rows;
  if (row !== undefined && Number(row.handled) > 0)
    return { inserted: Number(row.inserted), updated: Number(row.updated), deleted: Number(row.deleted) };
  // Either the table is unused since the server's start, or counting is off: then no other table has counts either. Changes through a view
  // count for the tables below it, never for the view.
  const { rows: others } = await sql`select 1 from ${counters} where count_star > 0 and exists (select 1 from information_schema.tables
    where table_schema = ${schemaOf(table)} and table_name = ${table.table} and table_type <> 'VIEW') limit 1`.execute(db);
  return others.length === 0 ? null : { inserted: 0, updated: 0, deleted: 0 };
}
