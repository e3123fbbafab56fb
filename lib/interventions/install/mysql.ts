import { sql } from 'kysely';
import { openDatabase } from '@/lib/database/database';
import type { Db, TableName } from '@/lib/database/description';
import type { Engine } from '@/lib/database/engine';
import { DatabaseFailure, failureAs } from '@/lib/database/failure';
import { createsTriggerIfMissing, type ServerKind, serverOf } from '@/lib/database/mysql/server';
import { archiveTable, recordsIndexStatement, recordTables } from '@/lib/outbox/companions';
import { type Outbox, quotedName } from '@/lib/outbox/outbox';
import { countersGrant, countersRead, tablesRead } from '@/lib/outbox/rights/rights';
import { archiveStatements, type Ddl, type InstallStatement, operatorGrants, recordStatements } from './tables';

/** Installations into one database run one after the other under this lock. */
const INSTALL_LOCK = 'outbox_console_install';
const INSTALL_LOCK_SECONDS = 10;
const DDL: Ddl = { now: '(utc_timestamp(6))', options: ' ENGINE=InnoDB ROW_FORMAT=DYNAMIC', addColumn: 'ADD COLUMN', indexesInside: true };

/** DDL and grants for MySQL and MariaDB: every statement commits by itself, in an order that makes an interruption harmless. */
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

/** The login is accepted, but has no right in the database of the URL. */
const KEPT_OUT = '1044';

type Account = { name: string; exists: boolean };

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

/** A grant names user and host: from the user's own connection, or from the error that refuses it; otherwise any host, `%`. */
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

type Trigger = Record<'name' | 'timing' | 'event' | 'body', string>;

interface TriggersSeen {
  /** null if the server did not answer: a current version is assumed. */
  server: ServerKind | null;
  /** On the record tables. A login without the right to create triggers sees none, or only their names. */
  triggers: readonly Trigger[];
}

/** The triggers on the records as this login sees them, or the reader without one. If the server does not answer, `server` is null. */
async function triggersSeen({ database }: Outbox, url: string | undefined): Promise<TriggersSeen> {
  const { headers, events } = recordTables(database.engine);
  const look = async (db: Db): Promise<TriggersSeen> => {
    const { rows } = await sql<Trigger>`select trigger_name as name, action_timing as timing, event_manipulation as event,
        action_statement as body from information_schema.triggers
      where trigger_schema = ${headers.schema ?? sql`database()`} and event_object_table in (${headers.table}, ${events.table})
        and action_statement is not null`.execute(db);
    return { server: await serverOf(db), triggers: rows };
  };
  const owner = url === undefined ? null : openDatabase({ id: database.id, url });
  try {
    return await (owner ?? database).read(look).catch(failureAs<TriggersSeen>({ server: null, triggers: [] }));
  } finally {
    await owner?.close();
  }
}

/** A record is closed once, in its own transaction, and never changed after; its lines never change, and a closed record gets no more. */
export function recordTriggers(engine: Engine, seen: TriggersSeen): InstallStatement[] {
  const { headers, events } = recordTables(engine);
  const refuse = `SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ${engine.quote.literal('an intervention record is never changed')}`;
  const closed = `EXISTS (SELECT 1 FROM ${quotedName(engine, headers)} WHERE id = NEW.intervention_id AND outcome IS NOT NULL)`;
  return [
    ...guard(engine, headers, 'UPDATE', `IF OLD.outcome IS NOT NULL THEN ${refuse}; END IF`, seen),
    ...guard(engine, headers, 'DELETE', refuse, seen),
    ...guard(engine, events, 'INSERT', `IF ${closed} THEN ${refuse}; END IF`, seen),
    ...guard(engine, events, 'UPDATE', refuse, seen),
    ...guard(engine, events, 'DELETE', refuse, seen),
  ];
}

/** One of two triggers guards the table at every moment: if creating a new one is refused, none has been dropped yet. */
function guard(
  engine: Engine,
  { schema, table }: TableName,
  event: 'INSERT' | 'UPDATE' | 'DELETE',
  body: string,
  seen: TriggersSeen,
): InstallStatement[] {
  const name = (text: string): string => quotedName(engine, { schema, table: text });
  const own = `${table}_no_${event.toLowerCase()}`;
  const standIn = `${own}_anew`;
  const isThere = (one: string): boolean => seen.triggers.some((each) => each.name === one);
  const guards = (one: string): boolean =>
    seen.triggers.some((each) => each.name === one && each.timing === 'BEFORE' && each.event === event && same(each.body, body));
  const create = (one: string, verb: string): string =>
    `CREATE ${verb} ${name(one)} BEFORE ${event} ON ${name(table)} FOR EACH ROW ${body}`;
  const drop = (one: string): string => `DROP TRIGGER IF EXISTS ${name(one)}`;
  const why = `No ${event} of a record that is closed`;
  const leaves = isThere(standIn) ? [{ why: 'It stood in for the one above', sql: drop(standIn) }] : [];
  if (guards(own)) return leaves;
  if (!isThere(own) && (seen.server === null || createsTriggerIfMissing(seen.server)))
    return [{ why, sql: create(own, 'TRIGGER IF NOT EXISTS') }, ...leaves];
  // In one step: if it is refused, nothing is dropped.
  if (isThere(own) && seen.server?.mariadb === true)
    return [{ why: `${why}: trigger ${own} says something else`, sql: create(own, 'OR REPLACE TRIGGER') }, ...leaves];
  const again = isThere(own)
    ? `trigger ${own} says something else`
    : `trigger ${own} may be there, which this server cannot be asked to skip`;
  const stands = guards(standIn)
    ? []
    : [
        { why: `${why}: ${again}. Another of the same stands in while it is made anew`, sql: drop(standIn) },
        { why: 'Where this is refused, stop here: nothing is lost yet', sql: create(standIn, 'TRIGGER') },
      ];
  return [
    ...stands,
    { why: `${why}: it is made anew`, sql: drop(own) },
    { why, sql: create(own, 'TRIGGER') },
    { why: 'It stood in for the one above', sql: drop(standIn) },
  ];
}

/** Ignores spaces: servers keep a trigger's text as written, but people who copy it may change them. */
const same = (one: string, other: string): boolean => plain(one) === plain(other);
const plain = (body: string): string => body.replace(/^\s+|[\s;]+$/g, '').replace(/\s+/g, ' ');
