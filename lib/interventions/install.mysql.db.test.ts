import { rm } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox } from '@/lib/outbox/outbox';
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import { startMariadb } from '@/scripts/testing/mariadb';
import { createRoles, createSample, settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { applyInstall, bindForInstall, installScript, installStatements } from './install';

const shape = SHAPES.find(({ key }) => key === 'wolverine-outgoing');
if (shape === undefined) throw new Error('There is no such shape');
const settings = settingsFor(shape, { table: shape.sample?.table?.mysql ?? shape.table });

const database = useTestDatabaseOf('mysql', (made) => createSample(made, shape));
const COUNTERS = 'GRANT SELECT ON performance_schema.table_io_waits_summary_by_table TO';
const opened: Database[] = [];
const open = (url: string, operatorUrl?: string): Database => {
  const one = openDatabase({ id: 'test', url, operatorUrl });
  opened.push(one);
  return one;
};
let roles: Awaited<ReturnType<typeof createRoles>>;
let outbox: Outbox;
beforeAll(async () => {
  roles = await createRoles(database);
  outbox = await bindForInstall(settings, open(roles.reader, roles.operator), database.url);
});
afterAll(() => Promise.all(opened.map((one) => one.close())));
const counts = async (): Promise<unknown> => {
  const bound = await bindOutbox(settings, open(roles.reader));
  return bound.database.read((db) => bound.database.engine.changeCounts(db, bound.main.table));
};

it('an owner who may not grant the counters of the server installs all the rest, and is told', async () => {
  const owner = `w_${database.name}`;
  await database.query(`CREATE USER ${owner}@'%' IDENTIFIED BY 'test'`);
  await database.query(`GRANT CREATE USER ON *.* TO ${owner}@'%'`);
  await database.query(`GRANT ALL ON ${database.name}.* TO ${owner}@'%' WITH GRANT OPTION`);
  // With a binary log a server wants more for triggers.
  await database.query('SET GLOBAL log_bin_trust_function_creators = 1');
  const refused = await applyInstall(outbox, database.urlFor(owner, 'test'));
  expect(refused.map(({ sql }) => sql)).toEqual([expect.stringContaining(COUNTERS)]);
  expect(await counts()).toBeNull();
  expect((await bindOutbox(settings, open(roles.reader, roles.operator))).whyReadOnly).not.toBe('missing_companions');
});

it('prints the grant of the counters where rows go when they are published, and makes it', async () => {
  expect(await installScript(outbox)).toContain(`${COUNTERS} '${new URL(roles.reader).username}'@'`);
  expect(await applyInstall(outbox, database.url)).toEqual([]);
  expect(await counts()).not.toBeNull();
});

it('an owner installs again where a binary log keeps him from making triggers, and the records stay guarded all the while', async () => {
  const own = makeDataFolder('oc-logged-');
  // Without `--skip-log-bin` of the others, and before anybody is trusted.
  const server = await startMariadb(own, { settings: ['--log-bin=changes', '--server-id=1'] });
  const admin = await mysql.createConnection({ uri: server.url });
  const urlOf = (user: string): string => {
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = [user, 'test', '/shop'];
    return url.href;
  };
  const asked = async (statement: string): Promise<mysql.RowDataPacket[]> => (await admin.query<mysql.RowDataPacket[]>(statement))[0];
  try {
    for (const statement of [
      'CREATE DATABASE shop CHARACTER SET utf8mb4',
      'USE shop',
      ...(shape.sample?.ddl.mysql ?? []),
      "CREATE USER owner IDENTIFIED BY 'test'",
      "CREATE USER reader IDENTIFIED BY 'test'",
      "CREATE USER operator IDENTIFIED BY 'test'",
      'GRANT CREATE USER ON *.* TO owner',
      'GRANT ALL ON shop.* TO owner WITH GRANT OPTION',
    ])
      await admin.query(statement);
    const bound = await bindForInstall(settings, open(urlOf('reader'), urlOf('operator')), urlOf('owner'));
    await expect(applyInstall(bound, urlOf('owner'))).rejects.toMatchObject({ state: '1419' });
    await admin.query('SET GLOBAL log_bin_trust_function_creators = 1');
    await applyInstall(bound, urlOf('owner'));
    await admin.query('SET GLOBAL log_bin_trust_function_creators = 0');
    const triggers = "SELECT trigger_name AS name, created AS at FROM information_schema.triggers WHERE trigger_schema = 'shop' ORDER BY 1";
    const made = await asked(triggers);
    expect(made).toHaveLength(2);
    await applyInstall(bound, urlOf('owner'));
    expect(await asked(triggers)).toEqual(made);
    // By hand, as it is printed: what is refused leaves nothing open either.
    for (const { sql } of await installStatements(bound)) await admin.query(sql);
    expect(await asked(triggers)).toEqual(made);
  } finally {
    await admin.end();
    await server.stop();
    await rm(own, { recursive: true, force: true });
  }
});

it('grants no counters where an index tells what was published', async () => {
  const kept = SHAPES.find(({ key }) => key === 'worker-status');
  if (kept === undefined) throw new Error('There is no such shape');
  await createSample(database, kept);
  const table = kept.sample?.table?.mysql ?? kept.table;
  const scriptOf = async (): Promise<string> =>
    installScript(await bindForInstall(settingsFor(kept, { id: 'kept', table }), open(roles.reader, roles.operator), database.url));
  const { columns } = await bindForInstall(settingsFor(kept, { id: 'kept', table }), open(roles.reader), database.url).then(({ main }) => ({
    columns: main.roles.publishedAt?.column.name ?? '',
  }));
  await database.query(`CREATE INDEX told ON \`${String(table)}\` (\`${columns}\`)`);
  expect(await scriptOf()).not.toContain(COUNTERS);
  await database.query(`DROP INDEX told ON \`${String(table)}\``);
  expect(await scriptOf()).toContain(COUNTERS);
});

it('grants to the account there is, though it may not enter the database yet', async () => {
  const name = `local_${database.name}`;
  await database.query(`CREATE USER ${name}@'127.0.0.1' IDENTIFIED BY 'test'`);
  const script = await installScript(await bindForInstall(settings, open(roles.reader, database.urlFor(name, 'test')), database.url));
  expect(script).toContain(`TO '${name}'@'127.0.0.1'`);
  expect(script).not.toContain(`'${name}'@'%'`);
});
