import { sql, type RawBuilder } from 'kysely';
import { integerRange } from '@/lib/database/column-text';
import type { Db } from '@/lib/database/description';
import { quotedName, type Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import { tablesRead } from '@/lib/outbox/rights/rights';
import type { Unseen } from '@/lib/shared/doctor';
import { instantToWall } from '@/lib/shared/text/zoned-time';
import { tablesOf, type ColumnFacts, type Facts, type IndexFacts, type TableFacts } from './facts';
import { isShown, readStatistics, TRANSACTIONAL, type IndexPart } from '@/lib/database/mysql/describe';
import { oldRows } from './old-rows';
import { readMysqlRoles } from './mysql-rights';
import { readRows } from './rows';

const LIMITS = { statementMs: 3_000, lockMs: 500 };
const CASCADES_SHOWN = 20;

/** The catalogue, counters and a few bounded reads of rows; locks nothing. `now` is the console's clock. Throws DatabaseFailure. */
export async function readMysqlFacts(outbox: Outbox, now: number): Promise<Facts> {
  const { rows, cut } = await readRows(outbox);
  const facts = await outbox.database.read(async (db) => {
    const server = await readServer(db);
    const { table: main, seesUses } = await readTable(db, outbox, outbox.main);
    const dead = outbox.dead === null ? null : (await readTable(db, outbox, outbox.dead)).table;
    const historyLength = server.historyLength ?? (await historyOf(db));
    const oldest = await oldestTransaction(db);
    const unseen: Unseen[] = [];
    if (oldest === undefined)
      unseen.push({ code: historyLength === null ? 'server_and_purge' : 'server', cure: `GRANT PROCESS ON *.* TO ${server.account};` });
    if (!seesUses) unseen.push({ code: 'index_uses', cure: `GRANT SELECT ON performance_schema.* TO ${server.account};` });
    if (cut) unseen.push({ code: 'rows', cure: null });
    const zone = { name: server.zone, minutes: server.zoneMinutes, expectedMinutes: minutesAhead(outbox.parameters.timeZone, now) };
    const cascades = await readCascades(db, outbox, tablesOf({ main, dead }));
    const ofTables = { main, dead, rows, old: oldRows(outbox, db), hidden: [], cascades };
    const purge = { historyLength, oldest: oldest ?? null };
    return { statisticsSince: server.upSince, zone, ...ofTables, holders: [], catalogueHolders: [], slots: null, purge, unseen };
  }, LIMITS);
  return { ...facts, roles: await readMysqlRoles(outbox, tablesOf(facts)) };
}

async function readServer(db: Db) {
  const { rows } = await sql<{ account: string; zone: string; minutes: string | null }>`
    select current_user() as account, @@global.time_zone as zone,
      timestampdiff(minute, utc_timestamp(), convert_tz(utc_timestamp(), '+00:00', @@global.time_zone)) as minutes`.execute(db);
  const { rows: counters } = await sql<{ Variable_name: string; Value: string }>`
    show global status where variable_name in ('Uptime', 'Innodb_history_list_length')`.execute(db);
  const counter = (name: string): number | null => {
    const row = counters.find(({ Variable_name }) => Variable_name.toLowerCase() === name);
    return row === undefined ? null : Number(row.Value);
  };
  const { account, zone, minutes } = rows[0] ?? { account: '', zone: '', minutes: null };
  const at = account.lastIndexOf('@');
  const up = counter('uptime');
  return {
    account: `'${account.slice(0, at)}'@'${account.slice(at + 1)}'`,
    upSince: up === null ? null : new Date(Date.now() - up * 1_000).toISOString(),
    zone,
    zoneMinutes: Number(minutes ?? 0),
    // MariaDB shows it to every user.
    historyLength: counter('innodb_history_list_length'),
  };
}

function minutesAhead(timeZone: string, now: number): number {
  if (/^[+-]\d\d:\d\d$/.test(timeZone))
    return Number(`${timeZone[0] ?? '+'}1`) * (Number(timeZone.slice(1, 3)) * 60 + Number(timeZone.slice(4)));
  return Math.round((Date.parse(`${instantToWall(now, timeZone)}Z`) - now) / 60_000);
}

/** MySQL counts it elsewhere, for users with PROCESS; null for others. */
async function historyOf(db: Db): Promise<number | null> {
  const metric = sql<{ n: string }>`select count as n from information_schema.innodb_metrics where name = 'trx_rseg_history_len'`;
  const [row] = (await rowsUnlessRefused(db, metric)) ?? [];
  return row === undefined ? null : Number(row.n);
}

/** The rows of a statement; null if it is refused, which does not end the transaction here. */
const rowsUnlessRefused = async <T>(db: Db, statement: RawBuilder<T>): Promise<T[] | null> =>
  (await statement.execute(db).catch(() => null))?.rows ?? null;

/** The longest open transaction, null if none, undefined if it may not be seen. InnoDB tells its start in the zone of the server's process. */
async function oldestTransaction(db: Db): Promise<NonNullable<Facts['purge']>['oldest'] | undefined> {
  const oldest = sql<{ who: string; user: string | null; age: string }>`
    select t.trx_mysql_thread_id as who, p.user as user,
      timestampdiff(microsecond, convert_tz(t.trx_started, 'SYSTEM', '+00:00'), utc_timestamp(6)) / 1000 as age
    from information_schema.innodb_trx t left join information_schema.processlist p on p.id = t.trx_mysql_thread_id
    where t.trx_mysql_thread_id <> connection_id() and t.trx_mysql_thread_id <> 0 order by t.trx_started limit 1`;
  const rows = await rowsUnlessRefused(db, oldest);
  if (rows === null) return undefined;
  const [row] = rows;
  return row === undefined ? null : { who: row.who, user: row.user ?? '', ageMs: Math.max(0, Number(row.age)), end: `KILL ${row.who};` };
}

/** Bytes of a value by its type, as they are not counted. */
const TYPE_BYTES: Record<string, number> = {
  tinyint: 1, smallint: 2, mediumint: 3, int: 4, bigint: 8, float: 4, double: 8, decimal: 8, date: 3, datetime: 8, timestamp: 7, time: 6, year: 1, bit: 1, enum: 1, uuid: 16,
}; // prettier-ignore
const TEXT_BYTES = 24;

/** A table's size, columns and indexes, by the catalogue and InnoDB's own estimates; reads no row of the table. */
async function readTable(db: Db, outbox: Outbox, place: Place): Promise<{ table: TableFacts; seesUses: boolean }> {
  const { schema, table } = place.table;
  const where = sql`table_schema = ${schema === null ? sql`database()` : schema} and table_name = ${table}`;
  const { rows } = await sql<Record<'engine' | 'n' | 'data' | 'indexes' | 'parts', string | null>>`
    select engine as engine, table_rows as n, data_length as data, index_length as indexes,
      (select count(*) from information_schema.partitions where ${where} and partition_name is not null) as parts
    from information_schema.tables where ${where}`.execute(db);
  const [row] = rows;
  const columns = await readColumns(db, where);
  const entries = row?.n == null ? null : Number(row.n);
  const uses = await usesOf(db, where);
  const indexes = await readIndexes(db, where, columns, entries, uses ?? new Map());
  const tableBytes = Number(row?.data ?? 0);
  const sizes = { rows: entries, tableBytes, heapBytes: tableBytes, indexBytes: Number(row?.indexes ?? 0) };
  const storage = row?.engine == null ? null : { name: row.engine, transactional: TRANSACTIONAL.test(row.engine) };
  const kept = { columns, indexes, partitioned: Number(row?.parts ?? 0) > 0, storage };
  const quoted = quotedName(outbox.database.engine, place.table);
  return { seesUses: uses !== null, table: { place, quoted, ...sizes, writes: null, vacuum: null, ...kept } };
}

async function readColumns(db: Db, where: ReturnType<typeof sql>): Promise<Map<string, ColumnFacts>> {
  const { rows } = await sql<Record<'name' | 'type' | 'base', string> & Record<'fallback' | 'collation' | 'length', string | null>>`
    select column_name as name, column_type as type, data_type as base, column_default as fallback,
      collation_name as collation, character_maximum_length as length
    from information_schema.columns where ${where}`.execute(db);
  const unsampled = { frequent: [], nullShare: 0, smallestSeen: null, largestSeen: null };
  const columns = rows.map(({ name, type, base, fallback: defaultText, collation, length }): ColumnFacts => {
    const largest = integerRange(type)?.[1].toString() ?? null;
    const averageBytes = TYPE_BYTES[base.toLowerCase()] ?? Math.min(TEXT_BYTES, Number(length ?? TEXT_BYTES));
    return { ...unsampled, name, type, largest, averageBytes, defaultText, caseless: /_ci$/i.test(collation ?? '') };
  });
  return new Map(columns.map((column) => [column.name, column]));
}

async function readIndexes(
  db: Db,
  where: ReturnType<typeof sql>,
  columns: ReadonlyMap<string, ColumnFacts>,
  entries: number | null,
  uses: ReadonlyMap<string, number>,
): Promise<IndexFacts[]> {
  return (await readStatistics(db, where)).map(([name, parts]): IndexFacts => {
    const [first] = parts;
    const named = parts.map((part) => (part.SUB_PART === null ? (part.COLUMN_NAME ?? '') : ''));
    const width = named.reduce((sum, column) => sum + (columns.get(column)?.averageBytes ?? TEXT_BYTES), 0);
    const unique = Number(first?.NON_UNIQUE ?? 1) === 0;
    return {
      name,
      definition: `${name === 'PRIMARY' ? 'PRIMARY KEY' : `${unique ? 'UNIQUE ' : ''}KEY ${name}`} (${parts.map(keyText).join(', ')})`,
      method: (first?.INDEX_TYPE ?? 'btree').toLowerCase(),
      columns: named,
      predicate: null,
      unique,
      // An index hidden from the planner is maintained with every write and serves no query.
      valid: first !== undefined && isShown(first),
      unfinished: false,
      // InnoDB shows sizes to administrators only: estimated from its entries.
      bytes: entries === null ? 0 : entries * (width + 20),
      entries,
      scans: uses.get(name) ?? null,
    };
  });
}

/** MySQL prints expressions escaped, as in a string literal. */
const keyText = ({ COLUMN_NAME: column, EXPRESSION: expression, SUB_PART: part, COLLATION: order }: IndexPart): string =>
  `${column ?? `(${(expression ?? 'expression').replace(/\\(.)/gs, '$1')})`}${part === null ? '' : `(${part})`}${order === 'D' ? ' DESC' : ''}`;

/** Reads of each index since the server started; null if the user may not see them, empty if the server does not count. */
async function usesOf(db: Db, where: ReturnType<typeof sql>): Promise<Map<string, number> | null> {
  const uses = sql<{ name: string; n: string }>`
    select index_name as name, count_read as n from performance_schema.table_io_waits_summary_by_index_usage
    where index_name is not null and (object_schema, object_name) =
      (select table_schema, table_name from information_schema.tables where ${where})`;
  const rows = await rowsUnlessRefused(db, uses);
  return rows && new Map(rows.map(({ name, n }) => [name, Number(n)]));
}

/** One key of a table as MySQL and MariaDB print it: its name, the table that it refers to, and the rest. */
const PRINTED = /^\s*CONSTRAINT (`(?:[^`]|``)+`) FOREIGN KEY \([^)]*\) REFERENCES ((?:`(?:[^`]|``)+`\.)?`(?:[^`]|``)+`) \([^)]*\)(.*)$/;

/** Foreign keys that delete events, from SHOW CREATE TABLE: the catalogue shows keys only to users who may write. */
async function readCascades(db: Db, outbox: Outbox, tables: readonly TableFacts[]): Promise<Facts['cascades']> {
  const { identifier } = outbox.database.engine.quote;
  const own = tablesRead(outbox).map((name) => quotedName(outbox.database.engine, name));
  const found: Facts['cascades'] = [];
  for (const { place, quoted } of tables) {
    if (place.description.kind !== 'table') continue;
    const { schema } = place.table;
    const { rows } = await sql<Record<string, string>>`show create table ${sql.raw(quoted)}`.execute(db);
    for (const line of rows[0]?.['Create Table']?.split('\n') ?? []) {
      const [, key, printed, rest = ''] = PRINTED.exec(line) ?? [];
      if (key === undefined || printed === undefined) continue;
      // A table in the same schema is printed without it.
      const from = schema === null || printed.includes('`.`') ? printed : `${identifier(schema)}.${printed}`;
      if (!rest.includes('ON DELETE CASCADE') || own.includes(from)) continue;
      const drop = `ALTER TABLE ${quoted} DROP FOREIGN KEY ${key};`;
      found.push({ table: quoted, key: key.slice(1, -1).replaceAll('``', '`'), from, drop });
    }
  }
  return found.slice(0, CASCADES_SHOWN);
}
