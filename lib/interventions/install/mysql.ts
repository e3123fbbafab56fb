import { sql } from 'kysely';
import type { ColumnDescription, Db, TableName } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import { ARCHIVE_COLUMNS, RECORDS_INDEX, archiveTable, recordsIndexStatement, recordsKey, recordTables } from '@/lib/outbox/companions';
import type { Outbox } from '@/lib/outbox/outbox';
import { countersGrant, countersRead, tablesRead } from '@/lib/outbox/rights/rights';
import { operatorGrants, type InstallStatement } from './statement';
import { recordTriggers, triggersSeen } from './triggers';

/** Under this lock two installations into one database take turns. */
const INSTALL_LOCK = 'outbox_console_install';
const INSTALL_LOCK_SECONDS = 10;

/**
 * DDL and grants for MySQL and MariaDB. There every statement is a transaction of its own: each can be run again, and
 * they stand in an order in which what is there after a break in the middle does no harm. The triggers come last, since
 * a server with a binary log may want more rights for them than for all the rest.
 */
export async function mysqlInstallation(outbox: Outbox, url: string | undefined): Promise<InstallStatement[]> {
  const { engine } = outbox.database;
  const { identifier, literal } = engine.quote;
  const { headers, events } = recordTables(engine);
  const name = ({ schema, table }: TableName): string => (schema === null ? [table] : [schema, table]).map(identifier).join('.');
  return [
    { why: 'Two installations at once take turns', sql: `SELECT GET_LOCK(${literal(INSTALL_LOCK)}, ${INSTALL_LOCK_SECONDS})` },
    ...records(outbox, name(headers), name(events)),
    ...(outbox.records === 'unindexed'
      ? [{ why: 'The records were installed before events were counted by this index', sql: recordsIndexStatement(engine) }]
      : []),
    ...archive(outbox, name(archiveTable(engine, outbox.id))),
    ...(await grants(outbox, name)),
    ...recordTriggers(engine, await triggersSeen(outbox, url)),
    { why: 'The next installation may begin', sql: `SELECT RELEASE_LOCK(${literal(INSTALL_LOCK)})` },
  ];
}

function records(outbox: Outbox, headers: string, events: string): InstallStatement[] {
  const { companions, quote } = outbox.database.engine;
  const { id, name, text, json, number, time } = companions.columns;
  const column = (columnName: string, { type }: ColumnDescription, rest = 'NOT NULL'): string =>
    `  ${quote.identifier(columnName)} ${type} ${rest}`;
  const key = (...names: string[]): string => names.map((one) => quote.identifier(one)).join(', ');
  return [
    {
      why: 'One row per intervention, written in the transaction of the change; the console reads new ones by time',
      sql: `CREATE TABLE IF NOT EXISTS ${headers} (
${[
  column('id', id, 'NOT NULL PRIMARY KEY'),
  column('outbox', name),
  column('actor_id', name),
  column('actor_name', text),
  column('actor_role', text),
  column('key', name),
  column('request_hash', text),
  column('operation', text),
  column('reason', text),
  column('outcome', name, "NULL CHECK (outcome IN ('applied', 'partly', 'none'))"),
  column('at', time, 'NOT NULL DEFAULT (utc_timestamp(6))'),
  `  UNIQUE KEY intervention_key (${key('outbox', 'actor_id', 'key')})`,
  `  KEY intervention_outbox_at (${key('outbox', 'at', 'id')})`,
].join(',\n')}
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
    },
    {
      why: 'One row per event of an intervention: what it was before and after, or why it was skipped; counted by event whenever one is shown',
      sql: `CREATE TABLE IF NOT EXISTS ${events} (
${[
  column('intervention_id', id),
  column('position', number),
  column('event_id', text),
  column('event_type', text, 'NULL'),
  column('aggregate_id', text, 'NULL'),
  column('code', text, 'NULL'),
  column('detail', json, 'NULL'),
  column('before', json, 'NULL'),
  column('after', json, 'NULL'),
  `  PRIMARY KEY (${key('intervention_id', 'position')})`,
  `  KEY ${RECORDS_INDEX} ${recordsKey(outbox.database.engine)}`,
  `  FOREIGN KEY (${key('intervention_id')}) REFERENCES ${headers} (${key('id')})`,
].join(',\n')}
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
    },
  ];
}

function archive(outbox: Outbox, archiveName: string): InstallStatement[] {
  const { quote, companions } = outbox.database.engine;
  const { id, name, text, time } = companions.columns;
  const keys = outbox.main.id.map((column) => column.name);
  const columns = new Map<string, ColumnDescription>();
  for (const place of [outbox.dead, outbox.main]) {
    for (const column of place?.description.columns.values() ?? []) if (!column.generated) columns.set(column.name, column);
  }
  const source = [...columns.values()].map(
    (column) => `  ${quote.identifier(column.name)} ${copied(column)} ${keys.includes(column.name) ? 'NOT NULL' : 'NULL DEFAULT NULL'}`,
  );
  const own: [string, ColumnDescription][] = [
    [ARCHIVE_COLUMNS.at, time],
    [ARCHIVE_COLUMNS.by, text],
    [ARCHIVE_COLUMNS.intervention, id],
    [ARCHIVE_COLUMNS.reason, text],
    [ARCHIVE_COLUMNS.fromState, name],
    [ARCHIVE_COLUMNS.fromTable, text],
  ];
  return [
    {
      why: `The archive of ${outbox.id}: the outbox's own columns, and when, by whom and from where; listed by time`,
      sql: `CREATE TABLE IF NOT EXISTS ${archiveName} (
${[
  ...source,
  ...own.map(([column, { type }]) => `  ${column} ${type} NOT NULL`),
  `  PRIMARY KEY (${keys.map((key) => quote.identifier(key)).join(', ')})`,
  `  KEY archived_at (${ARCHIVE_COLUMNS.at})`,
].join(',\n')}
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
    },
    ...[...columns.values()]
      .filter((column) => outbox.archive !== null && !outbox.archive.description.columns.has(column.name))
      .map((column) => ({
        why: `Column ${column.name}, which the outbox gained since`,
        sql: `ALTER TABLE ${archiveName} ADD COLUMN ${quote.identifier(column.name)} ${copied(column)} NULL DEFAULT NULL`,
      })),
  ];
}

/** The type as the catalogue prints it, with the collation, which it prints apart. It counts nothing up and sets no time by itself. */
function copied({ type, collation }: ColumnDescription): string {
  return collation === undefined ? type : `${type} CHARACTER SET ${collation.charset} COLLATE ${collation.name}`;
}

/** Signed in, and without any right in the database of the URL. */
const KEPT_OUT = '1044';

interface Account {
  name: string;
  /** Whether it has answered just now. */
  exists: boolean;
}

async function grants(outbox: Outbox, name: (table: TableName) => string): Promise<InstallStatement[]> {
  const { engine, roles, read, write } = outbox.database;
  const { headers, events } = recordTables(engine);
  const archiveName = name(archiveTable(engine, outbox.id));
  const reader = await accountOf(outbox, roles.reader, read);
  const operator = roles.operator === null || write === null ? null : await accountOf(outbox, roles.operator, write);
  const accounts = [reader, ...(operator === null || operator.name === reader.name ? [] : [operator])];
  const tables = tablesRead(outbox).map(name);
  const statements: InstallStatement[] = accounts
    .filter(({ exists }) => !exists)
    .map((account) => ({
      why: `User ${account.name}: created locked if it is missing; open it with ALTER USER … IDENTIFIED BY … ACCOUNT UNLOCK`,
      sql: `CREATE USER IF NOT EXISTS ${account.name} WITH MAX_USER_CONNECTIONS 20 ACCOUNT LOCK`,
    }));
  const grant = (account: Account, why: string, rights: string, table: string): void => {
    statements.push({ why, sql: `GRANT ${rights} ON ${table} TO ${account.name}` });
  };
  for (const account of accounts)
    for (const table of [...tables, name(headers), name(events), archiveName])
      grant(
        account,
        `Reading and every operation: ${account.name} reads the outbox, what stands beside it, its archive and the records`,
        'SELECT',
        table,
      );
  const counters = countersRead(outbox);
  if (counters !== null)
    statements.push({
      why: `${reader.name} reads how often rows came and went: events that do so between two looks are counted then. Nothing else needs it`,
      sql: countersGrant(counters, reader.name),
      optional: true,
    });
  if (operator === null) return statements;
  grant(
    operator,
    'Every operation adds its record and closes it with its outcome, nothing more',
    'INSERT, UPDATE (outcome)',
    name(headers),
  );
  grant(operator, 'Every operation adds the events of its record', 'INSERT', name(events));
  for (const { why, rights, table } of operatorGrants(outbox)) grant(operator, why, rights, name(table));
  return statements;
}

/**
 * A grant is to a user from somewhere: asked of the connection itself where it can be made. An account that is only kept out of
 * this database is named by the refusal; nobody else knows which of several it is. Anywhere otherwise.
 */
async function accountOf(outbox: Outbox, user: string, run: (work: (db: Db) => Promise<string>) => Promise<string>): Promise<Account> {
  const { literal } = outbox.database.engine.quote;
  try {
    const me = await run(async (db) => (await sql<{ me: string }>`select current_user() as me`.execute(db)).rows[0]?.me ?? `${user}@%`);
    const at = me.lastIndexOf('@');
    return { name: `${literal(me.slice(0, at))}@${literal(me.slice(at + 1))}`, exists: true };
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error;
    const kept = error.state === KEPT_OUT && error.cause instanceof Error ? /'([^']*)'@'([^']*)'/.exec(error.cause.message) : null;
    if (kept?.[2] !== undefined) return { name: `${literal(user)}@${literal(kept[2])}`, exists: true };
    return { name: `${literal(user)}@${literal('%')}`, exists: false };
  }
}
