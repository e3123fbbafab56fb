import { withConnection } from '../database/engine';
import type { DemoOutbox } from '../outboxes/outbox';
import { login, newPassword, type DatabaseLogins } from './logins';

/** On a server that is somebody's, everything of ours is called after us, and goes when the demo ends. */
const PREFIX = 'outbox_console_demo';
const USERS = { reader: `${PREFIX}_read`, operator: `${PREFIX}_write` } as const;

/**
 * Makes the outbox's database with its tables, and the console's users, anew: what an earlier demo left goes. The login of the
 * URL must be allowed to create databases and users, and to grant them rights.
 */
export async function createMysqlDatabase(serverUrl: string, outbox: DemoOutbox): Promise<DatabaseLogins> {
  const everything = databaseUrl(serverUrl, outbox);
  const passwords = { reader: newPassword(), operator: newPassword() };
  await removeMysqlDatabase(serverUrl, outbox);
  await withConnection(noDatabase(serverUrl), async (connection) => {
    await connection.query(`CREATE DATABASE ${databaseName(outbox)} CHARACTER SET utf8mb4`);
    for (const who of ['reader', 'operator'] as const)
      await connection.query(`CREATE USER ${USERS[who]}@'%' IDENTIFIED BY '${passwords[who]}'`);
  });
  await withConnection(everything, async (connection) => {
    for (const statement of outbox.table.ddl) await connection.query(statement);
  });
  return {
    everything,
    reader: login(everything, USERS.reader, passwords.reader),
    operator: login(everything, USERS.operator, passwords.operator),
  };
}

/** Takes away what `createMysqlDatabase` has made; what is not there is no error. */
export async function removeMysqlDatabase(serverUrl: string, outbox: DemoOutbox): Promise<void> {
  await withConnection(noDatabase(serverUrl), async (connection) => {
    await connection.query(`DROP DATABASE IF EXISTS ${databaseName(outbox)}`);
    for (const user of Object.values(USERS)) await connection.query(`DROP USER IF EXISTS ${user}@'%'`);
  });
}

const databaseName = (outbox: DemoOutbox): string => `${PREFIX}_${outbox.database}`;

/** The server itself: a database that its URL names need not exist. */
const noDatabase = (serverUrl: string): string => inDatabase(serverUrl, '');
const databaseUrl = (serverUrl: string, outbox: DemoOutbox): string => inDatabase(serverUrl, databaseName(outbox));

function inDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
