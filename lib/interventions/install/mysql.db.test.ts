import { sampleOf } from '@/fixtures/samples';
import { rm } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { mysqlEngine } from '@/lib/database/mysql/engine';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox } from '@/lib/outbox/outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { startMariadb } from '@/scripts/testing/mariadb';
import { createRoles, createSample, settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { applyInstall, bindForInstall, installScript, installStatements } from './install';
import { recordTriggers } from './mysql';

const shape = SHAPES.find(({ key }) => key === 'wolverine-outgoing');
if (shape === undefined) throw new Error('There is no such shape');
const settings = settingsFor(shape, { table: sampleOf(shape).table?.mysql ?? shape.table });

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
      ...(sampleOf(shape).ddl.mysql ?? []),
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
    expect(made).toHaveLength(5);
    await applyInstall(bound, urlOf('owner'));
    expect(await asked(triggers)).toEqual(made);
    // Emptied by whoever may: he is refused the new one before the old one is dropped.
    const own = 'shop.outbox_console_intervention_no_update';
    await admin.query(`DROP TRIGGER ${own}`);
    await admin.query(`CREATE TRIGGER ${own} BEFORE UPDATE ON shop.outbox_console_intervention FOR EACH ROW SET @nothing = 1`);
    await expect(applyInstall(bound, urlOf('owner'))).rejects.toMatchObject({ state: '1419' });
    const emptied = await asked(triggers);
    expect(emptied).toHaveLength(5);
    // By hand, as it is printed: what is refused leaves nothing open either.
    for (const { sql } of await installStatements(bound)) await admin.query(sql);
    expect(await asked(triggers)).toEqual(emptied);
  } finally {
    await admin.end();
    await server.stop();
    await rm(own, { recursive: true, force: true });
  }
});

describe('a trigger of the records that says something else', () => {
  const NO_UPDATE = 'outbox_console_intervention_no_update';
  const bodyOf = async (): Promise<string[]> => {
    const found = await database.query<{ body: string }>(
      `SELECT action_statement AS body FROM information_schema.triggers WHERE trigger_schema = DATABASE() ORDER BY trigger_name`,
    );
    return found.map(({ body }) => body);
  };
  const empty = async (): Promise<void> => {
    await database.query(`DROP TRIGGER IF EXISTS ${NO_UPDATE}`);
    await database.query(`CREATE TRIGGER ${NO_UPDATE} BEFORE UPDATE ON outbox_console_intervention FOR EACH ROW SET @nothing = 1`);
  };
  const ofTriggers = async (url?: string): Promise<string[]> =>
    (await installStatements(outbox, url)).map(({ sql }) => sql).filter((text) => text.includes('TRIGGER'));
  let made: string[] = [];
  beforeAll(async () => {
    await applyInstall(outbox, database.url);
    made = await bodyOf();
    expect(made).toEqual([
      expect.stringMatching(/^SIGNAL/),
      expect.stringContaining('NEW.intervention_id'),
      expect.stringMatching(/^SIGNAL/),
      expect.stringMatching(/^SIGNAL/),
      expect.stringContaining('OLD.outcome IS NOT NULL'),
    ]);
  });

  it('is made anew, and one that is as it should be is left out of the script, whatever its spaces', async () => {
    expect(await ofTriggers(database.url)).toEqual([]);
    await empty();
    await applyInstall(outbox, database.url);
    expect(await bodyOf()).toEqual(made);
    await database.query(`DROP TRIGGER ${NO_UPDATE}`);
    await database.query(
      `CREATE TRIGGER ${NO_UPDATE} BEFORE UPDATE ON outbox_console_intervention FOR EACH ROW\n  ${(made[4] ?? '').replaceAll(' THEN ', '\n  THEN\n    ')}`,
    );
    expect(await ofTriggers(database.url)).toEqual([]);
  });

  it('is put right by the printed statements as well', async () => {
    await empty();
    for (const text of await ofTriggers(database.url)) await database.query(text);
    expect(await bodyOf()).toEqual(made);
  });

  it('a server that cannot skip a trigger that is there is told what can be run again, and never leaves a record unguarded', async () => {
    const old = { mariadb: false, major: 8, minor: 0, patch: 28 };
    const statements = recordTriggers(mysqlEngine, { server: old, triggers: [] });
    await database.query(
      `INSERT INTO outbox_console_intervention (id, outbox, actor_id, actor_name, actor_role, \`key\`, request_hash, operation, reason, outcome)
        VALUES ('made', 'x', 'x', 'x', 'x', uuid(), 'x', 'x', 'x', NULL)`,
    );
    await database.query("INSERT INTO outbox_console_intervention_event (intervention_id, position, event_id) VALUES ('made', 0, 'a')");
    await database.query("UPDATE outbox_console_intervention SET outcome = 'applied' WHERE id = 'made'");
    for (let round = 0; round < 2; round += 1)
      for (const { sql } of statements) {
        await database.query(sql);
        await expect(database.query("UPDATE outbox_console_intervention SET reason = 'y' WHERE outbox = 'x'")).rejects.toThrow(
          'never changed',
        );
        for (const refused of [
          "DELETE FROM outbox_console_intervention WHERE outbox = 'x'",
          "UPDATE outbox_console_intervention_event SET event_id = 'b'",
          'DELETE FROM outbox_console_intervention_event',
          "INSERT INTO outbox_console_intervention_event (intervention_id, position, event_id) VALUES ('made', 1, 'a')",
        ])
          await expect(database.query(refused)).rejects.toThrow('never changed');
      }
    expect(await bodyOf()).toEqual(made);
    // Stopped in the middle: the next run makes what is missing and takes the one away that stood in.
    await database.query(statements[1]?.sql ?? '');
    await database.query(statements[2]?.sql ?? '');
    await applyInstall(outbox, database.url);
    expect(await bodyOf()).toEqual(made);
  });
});

it('grants no counters where an index tells what was published', async () => {
  const kept = SHAPES.find(({ key }) => key === 'worker-status');
  if (kept === undefined) throw new Error('There is no such shape');
  await createSample(database, kept);
  const table = sampleOf(kept).table?.mysql ?? kept.table;
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
