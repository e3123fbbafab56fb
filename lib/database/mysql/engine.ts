import { sql } from 'kysely';
import { ownColumn, type Engine } from '../engine';
import type { Db } from '../description';
import { daysOf, printedTime, printsAsDecimal, printsAsInteger, resolutionOf, UUID } from '../column-text';
import { LimitsOfTransaction } from './connection';
import { describeMysqlTable, mysqlTableNames, CHANGE_COUNTERS, changeCounts, estimateRows, tableSize } from './describe';
import { mysqlFailure } from './failure';
import { mysqlFragments } from './fragments';
import { mysqlCatalogue } from './catalogue';
import { mysqlDialect } from './pool';
import { tableRules, tableSignatures } from './table-rules';
import { serverName } from './server';
import { fractionDigits } from './times';
import { digitsOf } from './values';

/** A BINARY(16) holds exactly sixteen bytes; other types have no fixed length. */
function isAsLong(digits: string | null, type: string): boolean {
  const length = /^binary\((\d+)\)/i.exec(type)?.[1];
  return digits !== null && (length === undefined || Number(length) * 2 === digits.length);
}

/** The server's own, in capitals: a session may have others. */
async function settings(db: Db, names: string[]): Promise<string[]> {
  const { rows } = await sql<{ Value: string }>`show global variables where variable_name in (${sql.join(names.map(sql.lit))})`.execute(db);
  return rows.map(({ Value: value }) => value.toUpperCase());
}

const identifier = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
const BACKSLASHED = /[\\'\u0000]/g;

export const mysqlEngine: Engine = {
  key: 'mysql',
  features: {
    returning: false,
    notify: false,
    overridingSystemValue: false,
    streamsSubqueries: false,
    transactionalDdl: false,
    tellsRights: false,
    groupingSets: false,
    partialIndexes: false,
    indexesWholeTexts: false,
    sharesSubqueries: false,
    convertsOnInsert: true,
    foldsTexts: true,
    exactScalars: false,
    keyEndsIndexes: true,
  },
  fragments: mysqlFragments,
  quote: {
    identifier,
    literal: (text) =>
      `'${text.replace(BACKSLASHED, (character) => (character === '\u0000' ? '\\0' : character === "'" ? "''" : '\\\\'))}'`,
  },
  defaultSchema: null,
  companions: {
    schema: null,
    prefix: 'outbox_console_',
    columns: {
      id: ownColumn('char(36) character set ascii collate ascii_bin', 'text'),
      // Short enough for an index of three of them.
      name: ownColumn('varchar(200) character set utf8mb4 collate utf8mb4_bin', 'text'),
      text: ownColumn('text character set utf8mb4 collate utf8mb4_bin', 'text'),
      json: ownColumn('longtext character set utf8mb4 collate utf8mb4_bin', 'text'),
      number: ownColumn('int', 'integer'),
      time: ownColumn('datetime(6)', 'wall_clock'),
    },
  },
  dialect: mysqlDialect,
  failure: mysqlFailure,
  describe: describeMysqlTable,
  tableNames: mysqlTableNames,
  // Only an id that prints exactly like the stored one identifies its row; any text compared with a number would match 0.
  idFits(id, description) {
    const { kind, type } = description;
    if (!id.isWellFormed()) return false;
    if (kind === 'uuid') return UUID.test(id);
    if (kind === 'integer') return printsAsInteger(id, type);
    if (kind === 'binary') return isAsLong(digitsOf(id, description), type);
    if (kind === 'decimal') return printsAsDecimal(id, type);
    return kind === 'text' && !id.includes('\u0000');
  },
  // Accepts zero dates and dates with a zero part, which old tables hold and the console's sessions allow.
  timeFits(text) {
    const time = printedTime(text);
    if (time === null || time.year > 9_999 || time.month > 12 || time.beforeChrist || time.zoneHours !== null) return false;
    return time.day <= (time.month === 0 ? 31 : daysOf(time));
  },
  timeResolutionMs: (description) =>
    resolutionOf(description, /^(datetime|timestamp)/i.test(description.type) ? fractionDigits(description.type) : null),
  async limit(db, limits) {
    await sql`${new LimitsOfTransaction(limits)}`.execute(db);
  },
  async version(db) {
    const { rows } = await sql<{ version: string }>`select version() as version`.execute(db);
    return serverName(rows[0]?.version ?? '');
  },
  // Statements force their index in `from`: the servers have no planner setting that ends with the transaction.
  byIndex: () => Promise.resolve(),
  // Open transactions, for roles that may see them, show their start in whole seconds of an unknown time zone: too imprecise.
  async transactions(db) {
    const { rows } = await sql<{ at: string }>`select ${mysqlFragments.nowIso()} as at`.execute(db);
    return { at: rows[0]?.at ?? '', open: null };
  },
  tableSize,
  estimateRows,
  // Partitions are not tables here.
  relatedTables: () => Promise.resolve([]),
  changeCounts,
  changeCounters: CHANGE_COUNTERS,
  catalogue: mysqlCatalogue,
  tableRules,
  tableSignatures,
  roleRights: () => Promise.resolve(null),
  callRights: (_db, _role, functions) => Promise.resolve(functions.map(() => true)),
  // There are no deferred constraints.
  settleConstraints: () => Promise.resolve(),
  async isReadOnly(db) {
    const values = await settings(db, ['read_only', 'super_read_only', 'innodb_read_only']);
    return values.some((value) => value !== 'OFF' && value !== '0');
  },
  async otherSessions(db) {
    const right = await sql`select 1 from information_schema.user_privileges where privilege_type = 'PROCESS' limit 1`.execute(db);
    if (right.rows.length === 0) return null;
    const { rows } = await sql<{ name: string; count: string }>`
      select user as name, count(*) as count from information_schema.processlist
      where db = database() and user <> substring_index(current_user(), '@', 1) group by user order by 2 desc, 1 limit 5`.execute(db);
    return rows.map(({ name, count }) => ({ name, count: Number(count) }));
  },
  async logsStatements(db) {
    const values = await settings(db, ['log_bin', 'binlog_format']);
    return values.includes('ON') && values.includes('STATEMENT');
  },
};
