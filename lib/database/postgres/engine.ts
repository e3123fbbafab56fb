import { sql } from 'kysely';
import pg from 'pg';
import { ownColumn, type Engine } from '../engine';
import { bytesOf, daysOf, printedTime, printsAsDecimal, printsAsInteger, resolutionOf, UUID } from '../column-text';
import { describePostgresTable, postgresTableNames, relatedTables, changeCounts, estimateRows, tableSize } from './describe';
import { postgresFailure } from './failure';
import { postgresFragments } from './fragments';
import { DEFAULT_SCHEMA, postgresCatalogue } from './catalogue';
import { postgresDialect } from './pool';
import { callRights, roleRights, tableRules, tableSignatures } from './table-rules';
import { StatementSettings } from './session';

/** Limits of a timestamp in years BC and AD, one less than the server's, so that no time zone leads beyond them. */
const YEARS = { before: 4_712, after: 294_275 };
/** Offsets of time zones are below this. */
const ZONE_HOURS = 16;

export const postgresEngine: Engine = {
  key: 'postgres',
  features: {
    returning: true,
    notify: true,
    overridingSystemValue: true,
    streamsSubqueries: true,
    transactionalDdl: true,
    tellsRights: true,
    groupingSets: true,
    partialIndexes: true,
    indexesWholeTexts: true,
    sharesSubqueries: true,
    convertsOnInsert: false,
    foldsTexts: false,
    exactScalars: true,
    keyEndsIndexes: false,
  },
  fragments: postgresFragments,
  quote: { identifier: pg.escapeIdentifier, literal: pg.escapeLiteral },
  defaultSchema: DEFAULT_SCHEMA,
  companions: {
    schema: 'outbox_console',
    prefix: '',
    columns: {
      id: ownColumn('uuid', 'uuid'),
      name: ownColumn('text', 'text'),
      text: ownColumn('text', 'text'),
      json: ownColumn('jsonb', 'json'),
      number: ownColumn('int', 'integer'),
      time: ownColumn('timestamptz', 'instant'),
    },
  },
  dialect: postgresDialect,
  failure: postgresFailure,
  describe: describePostgresTable,
  tableNames: postgresTableNames,
  // Only an id that prints exactly like the stored one identifies its row: `01`, ` 1` and upper-case UUIDs are other texts.
  idFits(id, description) {
    if (id.includes('\u0000') || !id.isWellFormed()) return false;
    if (description.labels !== undefined) return description.labels.includes(id);
    const type = description.over ?? description.type;
    if (description.kind === 'uuid') return UUID.test(id);
    if (description.kind === 'integer') return printsAsInteger(id, type);
    // A transaction id, by which Watermill orders.
    if (type === 'xid8') return /^(0|[1-9][0-9]{0,19})$/.test(id) && BigInt(id) <= 18_446_744_073_709_551_615n;
    if (description.kind === 'decimal') return printsAsDecimal(id, type);
    if (description.kind === 'binary') return bytesOf(id, description) !== null;
    return description.kind === 'text';
  },
  timeFits(text) {
    if (text === 'infinity' || text === '-infinity') return true;
    const time = printedTime(text);
    if (time === null || time.year < 1 || time.year > (time.beforeChrist ? YEARS.before : YEARS.after)) return false;
    return time.day >= 1 && time.day <= daysOf(time) && (time.zoneHours ?? 0) < ZONE_HOURS;
  },
  timeResolutionMs(description) {
    const digits = /^timestamp\((\d)\)/.exec(description.type)?.[1];
    return resolutionOf(description, digits === undefined ? null : Number(digits));
  },
  async limit(db, limits) {
    const settings = {
      statement_timeout: String(limits.statementMs),
      lock_timeout: String(limits.lockMs),
      idle_in_transaction_session_timeout: String(limits.idleMs),
    };
    await sql`${new StatementSettings(settings, limits.alone)}`.execute(db);
  },
  async version(db) {
    const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(db);
    // Packagers append their own name.
    return `PostgreSQL ${rows[0]?.version.split(' ')[0] ?? ''}`;
  },
  // A scan without a usable index still runs, and begins at the same row each time.
  async byIndex(db, { scans = false, blocks = false, hashes = false, memory = false } = {}) {
    const onOff = (on: boolean): string => (on ? 'on' : 'off');
    const settings = {
      enable_seqscan: onOff(scans),
      enable_bitmapscan: onOff(blocks),
      jit: 'off',
      max_parallel_workers_per_gather: '0',
      synchronize_seqscans: 'off',
      ...(hashes ? { enable_sort: 'off' } : {}),
      ...(memory ? { work_mem: '32MB' } : {}),
    };
    await sql`${new StatementSettings(settings)}`.execute(db);
  },
  // Needs no privilege.
  async transactions(db) {
    const { rows } = await sql<Record<'at' | 'oldest' | 'next', string>>`
      select ${postgresFragments.nowIso()} as at, txid_snapshot_xmin(s)::text as oldest, txid_snapshot_xmax(s)::text as next
      from (select txid_current_snapshot() as s) as t`.execute(db);
    const [row] = rows;
    if (row === undefined) throw new Error('The transactions are one row');
    return { at: row.at, open: { oldest: BigInt(row.oldest), next: BigInt(row.next) } };
  },
  tableSize,
  estimateRows,
  relatedTables,
  changeCounts,
  changeCounters: null,
  catalogue: postgresCatalogue,
  tableRules,
  tableSignatures,
  roleRights,
  callRights,
  async settleConstraints(db) {
    await sql`set constraints all immediate`.execute(db);
    await sql`set constraints all deferred`.execute(db);
  },
  async isReadOnly(db) {
    const { rows } = await sql<{ replica: boolean; setting: string }>`
      select pg_is_in_recovery() as replica, current_setting('transaction_read_only') as setting`.execute(db);
    return rows[0]?.replica === true || rows[0]?.setting === 'on';
  },
  logsStatements: () => Promise.resolve(false),
  async otherSessions(db) {
    const { rows } = await sql<{ name: string; count: number }>`
      select coalesce(nullif(application_name, ''), usename::text, '') as name, count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name not like 'outbox-console/%' and usesysid is not null and coalesce(backend_type, 'client backend') = 'client backend'
      group by 1 order by 2 desc, 1 limit 5`.execute(db);
    return rows;
  },
};
