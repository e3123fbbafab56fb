/** What the doctor prints against rights that come by other roles takes them back, and nothing that is needed. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { applyInstall } from '@/lib/interventions/install/install';
import { bindOutbox } from '@/lib/outbox/bind';
import { neededRights } from '@/lib/outbox/rights/rights';
import type { Finding } from '@/lib/shared/doctor';
import { useTestDatabase } from '@/scripts/testing/database';
import { settingsIn } from '@/scripts/testing/outbox';
import { examineTable, fill, keptTables, shapeCalled } from '@/fixtures/doctor';

const TABLE = 'kept.transaction_outbox';
const SETTINGS = settingsIn(shapeCalled('escrow-status'), 'kept');

describe('rights that come by another role', () => {
  const database = useTestDatabase();
  const opened: Database[] = [];
  const roles = { reader: '', operator: '', inner: '', outer: '' };
  let count = 0;

  beforeAll(async () => {
    for (const statement of [...keptTables('escrow-status', 'kept'), fill('escrow-status', 'kept', 300)]) await database.query(statement);
    await database.query(`REVOKE CONNECT ON DATABASE ${database.name} FROM PUBLIC`);
  });
  beforeEach(async () => {
    count += 1;
    for (const key of Object.keys(roles) as (keyof typeof roles)[]) {
      roles[key] = `${key}_${count}_${database.name}`;
      await database.query(`CREATE ROLE ${roles[key]} ${key === 'reader' || key === 'operator' ? `LOGIN PASSWORD 'test'` : ''}`);
    }
  });
  afterAll(() => Promise.all(opened.map((one) => one.close())));

  const grant = async (...grants: string[]): Promise<void> => {
    for (const text of grants)
      await database.query(`GRANT ${text.replace(/\{(\w+)\}/g, (_, key: string) => roles[key as keyof typeof roles])}`);
  };
  const watches = (role: string): Promise<void> =>
    grant(`CONNECT ON DATABASE ${database.name} TO ${role}`, `USAGE ON SCHEMA kept TO ${role}`, `SELECT ON ${TABLE} TO ${role}`);
  const examined = async (operates = false): Promise<Finding[]> => {
    const operator = operates ? { operatorUrl: database.urlFor(roles.operator, 'test') } : {};
    const one = openDatabase({ id: 'test', url: database.urlFor(roles.reader, 'test'), ...operator });
    opened.push(one);
    return (await examineTable(one, SETTINGS)).findings;
  };
  async function cured(operates = false): Promise<string> {
    const [finding, ...more] = await examined(operates);
    expect([finding?.check, more]).toEqual(['role_too_wide', []]);
    for (const statement of (finding?.cure ?? '').split('\n')) await database.query(statement);
    expect(await examined(operates)).toEqual([]);
    return finding?.cure ?? '';
  }
  /** What the operator may still do, of what its operations need. */
  const works = async (): Promise<boolean> => {
    const one = openDatabase({ id: 'test', url: database.urlFor(roles.reader, 'test') });
    opened.push(one);
    const [needed] = neededRights(await bindOutbox(SETTINGS, one)).values();
    const columns = [...(needed?.update ?? [])];
    expect(columns.length).toBeGreaterThan(0);
    const [row] = await database.query<{ may: boolean }>(
      `SELECT bool_and(has_column_privilege($1, '${TABLE}', name, 'UPDATE')) AND has_table_privilege($1, '${TABLE}', 'SELECT') AS may FROM unnest($2::text[]) AS name`,
      [roles.operator, columns],
    );
    return row?.may ?? false;
  };

  it('nobody of the console reaches the server’s programs and files: not by a role either, which it keeps what it needs of', async () => {
    await grant(`USAGE ON SCHEMA kept TO {outer}`, `SELECT ON ${TABLE} TO {outer}`, `CONNECT ON DATABASE ${database.name} TO {outer}`);
    await grant(
      'pg_execute_server_program, pg_read_server_files TO {inner}',
      '{inner} TO {outer}',
      '{outer} TO {reader}',
      'pg_read_server_files TO {reader}',
    );
    expect(await examined()).toMatchObject([
      { severity: 'act', values: { codes: 'server', rights: 'pg_execute_server_program, pg_read_server_files' } },
    ]);
    expect(await cured()).toContain(`REVOKE "${roles.outer}" FROM "${roles.reader}";`);
  });

  it('a reader whose SELECT comes by the group of the application leaves it and still reads', async () => {
    await watches(roles.inner);
    await grant(`INSERT, UPDATE ON ${TABLE} TO {inner}`, '{inner} TO {reader}');
    expect(await cured()).toMatch(/^GRANT CONNECT ON DATABASE .*\nGRANT USAGE ON SCHEMA .*\nGRANT SELECT ON .*\nREVOKE .* FROM [^\n]+;$/m);
    const [inner] = await database.query(`SELECT has_table_privilege($1, '${TABLE}', 'INSERT') AS writes`, [roles.inner]);
    expect(inner).toEqual({ writes: true });
  });

  it('a reader that reads by itself is given nothing', async () => {
    await watches(roles.reader);
    await grant(`SELECT, INSERT ON ${TABLE} TO {inner}`, '{inner} TO {reader}');
    expect(await cured()).not.toContain('GRANT');
  });

  it('a reader that reads some columns by a group is given those', async () => {
    await watches(roles.reader);
    await database.query(`REVOKE SELECT ON ${TABLE} FROM ${roles.reader}`);
    const columns = await database.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${TABLE}'::regclass AND attnum > 0`,
    );
    await grant(`SELECT (${columns.map(({ name }) => name).join(', ')}), INSERT ON ${TABLE} TO {inner}`, '{inner} TO {reader}');
    expect(await cured()).toMatch(/^GRANT SELECT \(.*"status".*\) ON /m);
  });

  it('a role that writes by the group of a group leaves the one it is a member of', async () => {
    await watches(roles.reader);
    await grant(`INSERT ON ${TABLE} TO {outer}`, '{outer} TO {inner}', '{inner} TO {reader}');
    expect(await cured()).toContain(`REVOKE "${roles.inner}" FROM "${roles.reader}";`);
  });

  it('an operator that writes its records by a group is given that too', async () => {
    for (const role of [roles.reader, roles.operator]) await watches(role);
    const one = openDatabase({
      id: 'test',
      url: database.urlFor(roles.reader, 'test'),
      operatorUrl: database.urlFor(roles.operator, 'test'),
    });
    opened.push(one);
    await applyInstall(await bindOutbox(SETTINGS, one), database.url);
    await database.query(`REVOKE ALL ON ALL TABLES IN SCHEMA outbox_console FROM ${roles.reader}, ${roles.operator}`);
    await database.query(`REVOKE ALL ON SCHEMA outbox_console FROM ${roles.reader}, ${roles.operator}`);
    await grant(
      'USAGE ON SCHEMA outbox_console TO {inner}',
      'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA outbox_console TO {inner}',
    );
    await grant(`TRUNCATE ON ${TABLE} TO {inner}`, '{inner} TO {operator}', '{inner} TO {reader}');
    for (const { cure } of await examined(true)) for (const statement of (cure ?? '').split('\n')) await database.query(statement);
    expect(await examined(true)).toEqual([]);
    const [rights] = await database.query(
      `SELECT has_schema_privilege(o, 'outbox_console', 'USAGE') AND has_schema_privilege(r, 'outbox_console', 'USAGE') AS sees,
        has_table_privilege(r, headers, 'SELECT') AND has_table_privilege(r, archive, 'SELECT') AND has_table_privilege(o, events, 'SELECT') AS reads,
        has_table_privilege(o, headers, 'INSERT') AND has_column_privilege(o, headers, 'outcome', 'UPDATE') AND has_table_privilege(o, events, 'INSERT') AS records,
        has_table_privilege(o, archive, 'INSERT') AND has_table_privilege(o, archive, 'DELETE') AND has_column_privilege(o, archive, 'oc_reason', 'UPDATE') AS archives,
        has_table_privilege(r, headers, 'INSERT') OR has_table_privilege(o, headers, 'DELETE') OR has_column_privilege(o, headers, 'reason', 'UPDATE') AS more
       FROM (SELECT $1::text AS r, $2::text AS o, 'outbox_console.intervention' AS headers, 'outbox_console.intervention_event' AS events,
        'outbox_console.archive_${SETTINGS.id}' AS archive) AS named`,
      [roles.reader, roles.operator],
    );
    expect(rights).toEqual({ sees: true, reads: true, records: true, archives: true, more: false });
  });

  it.each(['pg_write_all_data', '{inner}'])('an operator that works by %s is given what it needs before it leaves', async (by) => {
    await watches(roles.reader);
    await watches(roles.operator);
    await grant(`UPDATE, DELETE ON ${TABLE} TO {inner}`, `${by} TO {operator}`);
    await cured(true);
    expect(await works()).toBe(true);
    const [inner] = await database.query(`SELECT has_table_privilege($1, '${TABLE}', 'UPDATE') AS writes`, [roles.inner]);
    expect(inner).toEqual({ writes: true });
  });
});
