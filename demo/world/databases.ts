import pg from 'pg';
import type { DemoOutbox } from '../outboxes/outbox';
import { createMysqlDatabase } from './mysql-database';
import { login, newPassword, type DatabaseLogins } from './logins';

/** Answers a connection string for the superuser. */
export type SuperuserUrl = (database: string) => string;

const READER = 'console_reader';
const OPERATOR = 'console_operator';
const STORE_OWNER = 'console_store';
export const STORE_DATABASE = 'console_store';

/** Runs `work` on one connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'demo' });
  // A lost connection shows in the next query; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Makes the console's own database with an owner of its own; answers the owner's URL. */
export async function createStoreDatabase(superuserUrl: SuperuserUrl): Promise<string> {
  const password = newPassword();
  await withClient(superuserUrl('postgres'), async (client) => {
    await client.query(`CREATE ROLE ${STORE_OWNER} LOGIN PASSWORD '${password}' CONNECTION LIMIT 60`);
    await client.query(`CREATE DATABASE ${STORE_DATABASE} OWNER ${STORE_OWNER}`);
  });
  return login(superuserUrl(STORE_DATABASE), STORE_OWNER, password);
}

/** Makes one database per outbox with its tables, and the console's users; answers the logins by outbox id. */
export async function createOutboxDatabases(
  superuserUrl: SuperuserUrl,
  all: readonly DemoOutbox[],
  mysqlUrl: string | undefined,
): Promise<Map<string, DatabaseLogins>> {
  const outboxes = all.filter(({ table }) => table.engine === 'postgres');
  const [readerPassword, operatorPassword] = [newPassword(), newPassword()];
  await withClient(superuserUrl('postgres'), async (client) => {
    await client.query(`CREATE ROLE ${READER} LOGIN PASSWORD '${readerPassword}' CONNECTION LIMIT 60`);
    await client.query(`CREATE ROLE ${OPERATOR} LOGIN PASSWORD '${operatorPassword}' CONNECTION LIMIT 40`);
    for (const { database } of outboxes) await client.query(`CREATE DATABASE ${database}`);
  });
  const logins = new Map<string, DatabaseLogins>();
  for (const { id, database, table } of outboxes) {
    const everything = superuserUrl(database);
    await withClient(everything, async (client) => {
      for (const statement of table.ddl) await client.query(statement);
      await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC; GRANT CONNECT ON DATABASE ${database} TO ${READER}, ${OPERATOR}`);
    });
    logins.set(id, {
      everything,
      reader: login(everything, READER, readerPassword),
      operator: login(everything, OPERATOR, operatorPassword),
    });
  }
  for (const outbox of all) if (outbox.table.engine === 'mysql') logins.set(outbox.id, await createMysqlDatabase(mysqlUrl ?? '', outbox));
  return logins;
}
