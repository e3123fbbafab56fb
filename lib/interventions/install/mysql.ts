import { sql } from 'kysely';
import type { Db, TableName } from '@/lib/database/description';
import { DatabaseFailure } from '@/lib/database/failure';
import { archiveTable, recordsIndexStatement, recordTables } from '@/lib/outbox/companions';
import { quotedName, type Outbox } from '@/lib/outbox/outbox';
import { countersGrant, countersRead, tablesRead } from '@/lib/outbox/rights/rights';
import { archiveStatements, operatorGrants, recordStatements, type Ddl, type InstallStatement } from './tables';
import { recordTriggers, triggersSeen } from './triggers';

/** Under this lock two installations into one database take turns. */
const INSTALL_LOCK = 'outbox_console_install';
const INSTALL_LOCK_SECONDS = 10;
const DDL: Ddl = { now: '(utc_timestamp(6))', options: ' ENGINE=InnoDB ROW_FORMAT=DYNAMIC', addColumn: 'ADD COLUMN', indexesInside: true };

/** DDL and grants for MySQL and MariaDB: every statement commits, in an order in which a break in the middle does no harm. */
export async function mysqlInstallation(outbox: Outbox, url: string | undefined): Promise<InstallStatement[]> {
  const { engine } = outbox.database;
  const { literal } = engine.quote;
  return [
    { why: 'Two installations at once take turns', sql: `SELECT GET_LOCK(${literal(INSTALL_LOCK)}, ${INSTALL_LOCK_SECONDS})` },
    ...recordStatements(engine, DDL),
    ...(outbox.records === 'unindexed'
      ? [{ why: 'The records were installed before events were counted by this index', sql: recordsIndexStatement(engine) }]
      : []),
    ...archiveStatements(outbox, DDL),
    ...(await grants(outbox)),
    ...recordTriggers(engine, await triggersSeen(outbox, url)),
    { why: 'The next installation may begin', sql: `SELECT RELEASE_LOCK(${literal(INSTALL_LOCK)})` },
  ];
}

/** Signed in, and without any right in the database of the URL. */
const KEPT_OUT = '1044';

interface Account {
  name: string;
  exists: boolean;
}

async function grants(outbox: Outbox): Promise<InstallStatement[]> {
  const { engine, roles, read, write } = outbox.database;
  const { headers, events } = recordTables(engine);
  const reader = await accountOf(outbox, roles.reader, read);
  const operator = roles.operator === null || write === null ? null : await accountOf(outbox, roles.operator, write);
  const accounts = [reader, ...(operator === null || operator.name === reader.name ? [] : [operator])];
  const grant = (account: Account, why: string, rights: string, table: TableName): InstallStatement => ({
    why,
    sql: `GRANT ${rights} ON ${quotedName(engine, table)} TO ${account.name}`,
  });
  const missing = accounts.filter(({ exists }) => !exists);
  const tables = [...tablesRead(outbox), headers, events, archiveTable(engine, outbox.id)];
  const counters = countersRead(outbox);
  const reading: InstallStatement[] = [
    ...missing.map(({ name }) => ({
      why: `User ${name}: created locked if it is missing; open it with ALTER USER … IDENTIFIED BY … ACCOUNT UNLOCK`,
      sql: `CREATE USER IF NOT EXISTS ${name} WITH MAX_USER_CONNECTIONS 20 ACCOUNT LOCK`,
    })),
    ...accounts.flatMap((account) => {
      const why = `Reading and every operation: ${account.name} reads the outbox, what stands beside it, its archive and the records`;
      return tables.map((table) => grant(account, why, 'SELECT', table));
    }),
  ];
  if (counters !== null)
    reading.push({
      why: `${reader.name} reads how often rows came and went: events that do so between two looks are counted then. Nothing else needs it`,
      sql: countersGrant(counters, reader.name),
      optional: true,
    });
  if (operator === null) return reading;
  const closing = 'Every operation adds its record and closes it with its outcome, nothing more';
  return [
    ...reading,
    grant(operator, closing, 'INSERT, UPDATE (outcome)', headers),
    grant(operator, 'Every operation adds the events of its record', 'INSERT', events),
    ...operatorGrants(outbox).map(({ why, rights, table }) => grant(operator, why, rights, table)),
  ];
}

/** A grant is to a user from somewhere: asked of its connection, or named by its refusal; from anywhere otherwise. */
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
