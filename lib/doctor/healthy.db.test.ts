import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { applyInstall } from '@/lib/interventions/install/install';
import { bindOutbox } from '@/lib/outbox/bind';
import { useTestDatabase } from '@/scripts/testing/database';
import { createRoles, settingsIn } from '@/scripts/testing/outbox';
import { examineTable, fill, keptTables, shapeCalled } from '@/fixtures/doctor';

const SHAPES = ['escrow-status', 'worker-status', 'published-at', 'courier-status', 'listen-notify'];
const ROWS = 30_000;

describe('a healthy table', () => {
  let reader: Database;
  const database = useTestDatabase();
  const schemaOf = (key: string): string => key.replaceAll('-', '_');

  beforeAll(async () => {
    const roles = await createRoles(database);
    reader = openDatabase({ id: 'test', url: roles.reader, operatorUrl: roles.operator });
    for (const key of SHAPES) {
      await database.query([...keptTables(key, schemaOf(key)), fill(key, schemaOf(key), ROWS)].join(';\n'));
      await applyInstall(await bindOutbox(settingsIn(shapeCalled(key), schemaOf(key)), openedAs(database.url)), database.url);
    }
    await database.query('VACUUM ANALYZE');
  });
  const opened: Database[] = [];
  /** The superuser's, with the names of the roles to grant to. */
  function openedAs(url: string): Database {
    const one = openDatabase({ id: 'test', url });
    opened.push(one);
    return { ...one, roles: reader.roles };
  }
  afterAll(() => Promise.all([reader, ...opened].map((one) => one.close())));

  it.each(SHAPES)('of %s, with roles as installed, gives no finding', async (key) => {
    const examination = await examineTable(reader, settingsIn(shapeCalled(key), schemaOf(key)));
    expect(examination.findings).toEqual([]);
    expect(examination.tables[0]).toMatchObject({ place: 'main' });
    expect(examination.tables[0]?.rows).toBeGreaterThan(ROWS * 0.9);
  });

  it.each(SHAPES)('of %s gives none while it is nearly empty either', async (key) => {
    const schema = `${schemaOf(key)}_few`;
    await database.query(
      [
        ...keptTables(key, schema),
        fill(key, schema, 30),
        `GRANT USAGE ON SCHEMA ${schema} TO ${reader.roles.reader}`,
        `GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${reader.roles.reader}`,
      ].join(';\n'),
    );
    const examination = await examineTable({ ...reader, roles: { ...reader.roles, operator: null } }, settingsIn(shapeCalled(key), schema));
    expect(examination.findings).toEqual([]);
  });
});
