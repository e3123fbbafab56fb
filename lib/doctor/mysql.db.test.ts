import mysql from 'mysql2/promise';
import { createTranslator } from 'use-intl/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import type { OutboxSettings } from '@/lib/outbox/outbox';
import { type Shape } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import type { Finding } from '@/lib/shared/doctor';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { useTestMysql } from '@/scripts/testing/mysql';
import { createRoles } from '@/scripts/testing/outbox';
import { examineTable, shapeCalled } from '@/fixtures/doctor';

const worker = shapeCalled('worker-status');

/** A table with a counter, a limit, dead events among the others and a key of its own. */
const countingShape = defineShape({
  key: 'inline',
  label: 'Own table',
  origin: 'nobody',
  engines: ['mysql'],
  table: 'outbox',
  columns: { id: 'id', type: 'type', createdAt: 'created_at', publishedAt: 'sent_at', attempts: 'tries', error: 'error', dedupKey: 'dedup', payload: 'payload' },
  states: [
    { state: 'published', when: { column: 'status', equals: 'SENT' } },
    { state: 'dead', when: { column: 'status', equals: 'DEAD' } },
    { state: 'pending', when: { column: 'status', equals: 'NEW' } },
  ],
  parameters: { maxAttempts: 5 },
}); // prettier-ignore

const workerTable = (name: string, rest = ''): string =>
  `CREATE TABLE ${name} (id bigint AUTO_INCREMENT PRIMARY KEY, event_type varchar(64) NOT NULL, payload text NOT NULL, created_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, processed_at datetime NULL,
    status varchar(16) NOT NULL DEFAULT 'PENDING', updated_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, KEY kept_waiting (status, created_at), KEY kept_published (processed_at)) ${rest}`;
const ownTable = (name: string, rest = ''): string =>
  `CREATE TABLE ${name} (id char(36) PRIMARY KEY, type varchar(64), created_at datetime(6) NOT NULL, sent_at datetime(6) NULL, status varchar(16) NOT NULL, tries tinyint NOT NULL DEFAULT 0, error text, dedup varchar(64), payload text,
    UNIQUE KEY kept_dedup (dedup), KEY kept_waiting (status, created_at), KEY kept_published (sent_at)) ${rest}`;
/** Whole numbers from 1, as many as wanted, on every server. */
const numbers = (rows: number): string =>
  `(SELECT a.n * 1000 + b.n + 1 AS i FROM (SELECT x.d + y.d * 10 + z.d * 100 AS n FROM digits x, digits y, digits z) a, (SELECT x.d + y.d * 10 + z.d * 100 AS n FROM digits x, digits y, digits z) b WHERE a.n * 1000 + b.n < ${rows}) AS numbered`;
const fillWorker = (name: string, rows: number): string =>
  `INSERT INTO ${name} (event_type, payload, created_at, processed_at, status) SELECT 't', '{}', UTC_TIMESTAMP() - INTERVAL (${rows} - i) SECOND, IF(i > ${rows} - 20, NULL, UTC_TIMESTAMP() - INTERVAL (${rows} - i) SECOND), IF(i > ${rows} - 20, 'PENDING', 'PROCESSED') FROM ${numbers(rows)}`;
const fillOwn = (name: string, rows: number): string =>
  `INSERT INTO ${name} (id, type, created_at, sent_at, status, dedup) SELECT UUID(), 't', UTC_TIMESTAMP(6) - INTERVAL (${rows} - i) SECOND, IF(i > ${rows} - 20, NULL, UTC_TIMESTAMP(6) - INTERVAL (${rows} - i) SECOND), IF(i > ${rows} - 20, 'NEW', 'SENT'), CONCAT('k', i) FROM ${numbers(rows)}`;

interface Planted {
  of: 'worker' | 'own';
  rows?: number;
  /** After the table's definition. */
  rest?: string;
  plant: string[];
  also?: string[];
  cure?: RegExp;
}

const PLANTED: Record<string, Planted> = {
  index_waiting: { of: 'worker', rows: 25_000, plant: ['ALTER TABLE {t} DROP INDEX kept_waiting'], cure: /^CREATE INDEX `[^`]+_waiting` ON `[^`]+` \(`status`, `created_at`\) ALGORITHM=INPLACE LOCK=NONE;$/ },
  index_published: { of: 'worker', rows: 25_000, plant: ['ALTER TABLE {t} DROP INDEX kept_published'], cure: /\(`processed_at`\) ALGORITHM/ },
  retention_absent: { of: 'worker', rows: 12_000, plant: [`UPDATE {t} SET created_at = created_at - INTERVAL 100 DAY, processed_at = processed_at - INTERVAL 100 DAY WHERE status = 'PROCESSED'`], cure: /^DELETE FROM .*`status` = 'PROCESSED'.* order by .* LIMIT 5000;$/ },
  dedup_key: { of: 'own', plant: ['ALTER TABLE {t} DROP INDEX kept_dedup'], cure: /^CREATE UNIQUE INDEX .*\(`dedup`\)/ },
  unique_id: { of: 'own', plant: ['ALTER TABLE {t} DROP PRIMARY KEY'], cure: /^CREATE UNIQUE INDEX .*\(`id`\)/ },
  counter_overflow: { of: 'own', plant: [`UPDATE {t} SET tries = 120 WHERE status = 'NEW'`], also: ['attempts_beyond'], cure: /MODIFY `tries` int/ },
  attempts_beyond: { of: 'own', plant: [`UPDATE {t} SET tries = 9 WHERE status = 'NEW'`] },
  stranded_rows: { of: 'own', plant: [`UPDATE {t} SET tries = 5, created_at = created_at - INTERVAL 3 DAY WHERE status = 'NEW'`] },
  dead_forgotten: { of: 'own', plant: [`UPDATE {t} SET status = 'DEAD', sent_at = NULL, created_at = created_at - INTERVAL 40 DAY WHERE dedup = 'k7'`] },
  unmapped_status: { of: 'own', plant: [`UPDATE {t} SET status = 'ON_HOLD' WHERE dedup = 'k7'`] },
  status_case: { of: 'own', plant: [`UPDATE {t} SET status = 'sent' WHERE dedup IN ('k7', 'k8')`] },
  storage_engine: { of: 'worker', rest: 'ENGINE=MyISAM', plant: [], cure: /ENGINE=InnoDB;$/ },
  events_from_future: { of: 'own', plant: [`UPDATE {t} SET created_at = UTC_TIMESTAMP(6) + INTERVAL 9 HOUR WHERE dedup = 'k7'`] },
  cascade_delete: {
    of: 'worker',
    plant: ['CREATE TABLE {t}_kinds (name varchar(64) PRIMARY KEY)', `INSERT INTO {t}_kinds VALUES ('t')`, 'ALTER TABLE {t} ADD CONSTRAINT of_kind FOREIGN KEY (event_type) REFERENCES {t}_kinds (name) ON DELETE CASCADE', 'ALTER TABLE {t} ADD CONSTRAINT of_kind_too FOREIGN KEY (event_type) REFERENCES {t}_kinds (name)'],
    cure: /^ALTER TABLE `cascade_delete` DROP FOREIGN KEY `of_kind`;$/,
  },
  'unmapped_status: one in the middle of many rows': { of: 'own', rows: 60_000, plant: ['ALTER TABLE {t} DROP INDEX kept_waiting, ADD INDEX kept_waiting (status, created_at)', `UPDATE {t} SET status = 'ON_HOLD' WHERE dedup = 'k30000'`] },
  'unmapped_status: one that is not there': { of: 'own', rows: 60_000, plant: ['ALTER TABLE {t} MODIFY status varchar(16) NULL', `UPDATE {t} SET status = NULL WHERE dedup = 'k30000'`] },
  'role_too_wide: a reader that may write': { of: 'worker', plant: [`GRANT INSERT, UPDATE, DROP ON {t} TO {reader}@'%'`], cure: /^REVOKE INSERT, UPDATE, DROP ON/ },
}; // prettier-ignore

describe('on MySQL and MariaDB', () => {
  let reader: Database;
  const others: Database[] = [];
  const database = useTestMysql();
  const settings = (shape: Shape, table: string): OutboxSettings => ({
    id: table.replaceAll('_', '-').slice(0, 40), name: table, table, shape, inline: shape === countingShape, parameters: {}, links: [], amount: null, mask: [],
  }); // prettier-ignore
  let urls: { reader: string; operator: string };

  beforeAll(async () => {
    urls = await createRoles(database);
    reader = openDatabase({ id: 'test', url: urls.reader });
    await database.query('CREATE TABLE digits (d int PRIMARY KEY)');
    await database.query('INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)');
  });
  afterAll(() => Promise.all([reader, ...others].map((one) => one.close())));

  async function plant(table: string, { of, rows = 300, rest = '', plant: statements }: Planted): Promise<OutboxSettings> {
    await database.query(of === 'worker' ? workerTable(table, rest) : ownTable(table, rest));
    await database.query(of === 'worker' ? fillWorker(table, rows) : fillOwn(table, rows));
    await database.query(`GRANT SELECT ON ${table} TO r_${database.name}@'%'`);
    for (const statement of statements)
      await database.query(statement.replaceAll('{t}', table).replaceAll('{reader}', `r_${database.name}`));
    await database.query(`ANALYZE TABLE ${table}`);
    return settings(of === 'worker' ? worker : countingShape, table);
  }

  const checksOf = (findings: readonly Finding[]): string[] => [...new Set(findings.map(({ check }) => check))].sort();

  it.each([
    ['worker', worker, 30_000],
    ['own', countingShape, 30_000],
    ['worker', worker, 30],
    ['own', countingShape, 30],
  ] as const)('a healthy table (%s) with roles as installed gives no finding', async (of, shape, rows) => {
    const table = `well_${of}_${rows}`;
    await plant(table, { of, rows, plant: [] });
    const opened = openDatabase({ id: 'test', url: urls.reader, operatorUrl: urls.operator });
    others.push(opened);
    const own = settings(shape, table);
    await applyInstall(await bindForInstall(own, opened, database.url), database.url);
    const examination = await examineTable(opened, own);
    expect(examination.findings).toEqual([]);
    expect(examination.unseen.map(({ code }) => code)).toEqual([database.mariadb ? 'server' : 'server_and_purge', 'index_uses']);
    expect(examination.tables[0]?.indexes.map(({ name }) => name)).toContain('kept_waiting');
  });

  it.each(['status', 'status, id', 'status, processed_at'])(
    'an index of (%s) leads to the waiting rows in an order of its own',
    async (columns) => {
      const own = await plant(`by_${columns.replace(/\W+/g, '_')}`, {
        of: 'worker',
        rows: 25_000,
        plant: ['ALTER TABLE {t} DROP INDEX kept_waiting', `CREATE INDEX other_waiting ON {t} (${columns})`],
      });
      expect((await examineTable(reader, own)).findings).toEqual([]);
    },
  );

  it.each(Object.entries(PLANTED))('%s is found, and nothing that is not there', async (name, planted) => {
    const [check = ''] = name.split(/[ :]/);
    const own = await plant(name.replace(/\W+/g, '_').slice(0, 50), planted);
    const { findings } = await examineTable(reader, own);
    expect(checksOf(findings)).toEqual([check, ...(planted.also ?? [])].sort());
    const cure = findings.find((finding) => finding.check === check)?.cure ?? '';
    if (planted.cure !== undefined) expect(cure).toMatch(planted.cure);
    await expectWorded(findings);
    if (check.startsWith('index_') || check === 'unique_id') {
      for (const statement of cure.split('\n')) await database.query(statement.replace(/;$/, ''));
      expect(checksOf((await examineTable(reader, own)).findings)).toEqual([]);
    }
  });

  it('role_too_wide: a login that may do everything', async () => {
    const own = await plant('wide', { of: 'worker', plant: [] });
    const opened = openDatabase({ id: 'test', url: database.url });
    others.push(opened);
    const { findings, unseen } = await examineTable(opened, own);
    expect(findings).toMatchObject([{ check: 'role_too_wide', severity: 'act', values: { codes: 'superuser' } }]);
    expect(unseen).toEqual([]);
  });

  it('role_too_wide: by a role of the reader’s, from which the cure takes it', async () => {
    const own = await plant('by_role', { of: 'worker', plant: [] });
    const [name, role] = [`n_${database.name}`, `w_${database.name}`];
    await database.query(`CREATE USER ${name}@'%' IDENTIFIED BY 'test'`);
    await database.query(`CREATE ROLE ${role}`);
    await database.query(`GRANT SELECT ON by_role TO ${name}@'%'`);
    await database.query(`GRANT INSERT, UPDATE (status, payload) ON by_role TO ${role}`);
    await database.query(`GRANT ${role} TO ${name}@'%'`);
    await database.query(`SET DEFAULT ROLE ${role} ${database.mariadb ? 'FOR' : 'TO'} ${name}@'%'`);
    const examined = async (): Promise<Finding[]> => {
      const opened = openDatabase({ id: 'test', url: database.urlFor(name, 'test') });
      return (await examineTable(opened, own).finally(() => opened.close())).findings;
    };
    const [finding, ...more] = await examined();
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ check: 'role_too_wide', severity: 'watch', values: { codes: 'table_rights column_rights' } });
    for (const statement of (finding?.cure ?? '').split('\n')) await database.query(statement);
    expect(await examined()).toEqual([]);
    await database.query(`DROP ROLE ${role}`);
  });

  it('an index that the planner is not shown is not taken for one that serves', async () => {
    const own = await plant('hidden_index', { of: 'worker', rows: 25_000, plant: [] });
    await database.query('CREATE INDEX a_wider_one ON hidden_index (status, created_at, id)');
    const hide = (index: string): Promise<unknown> =>
      database.query(`ALTER TABLE hidden_index ALTER INDEX ${index} ${database.mariadb ? 'IGNORED' : 'INVISIBLE'}`);
    await hide('a_wider_one');
    expect((await examineTable(reader, own)).findings).toEqual([]);
    await hide('kept_waiting');
    expect(checksOf((await examineTable(reader, own)).findings)).toEqual(['index_waiting']);
  });

  it('purge_lag: what a transaction that is open keeps from being purged, and whose it is', async () => {
    const own = await plant('lagging', { of: 'worker', plant: [] });
    const holder = await mysql.createConnection({ uri: database.url });
    await holder.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    await holder.query('SELECT count(*) FROM lagging');
    await database.query(
      `CREATE PROCEDURE churn(n int) BEGIN DECLARE i int DEFAULT 0; WHILE i < n DO UPDATE lagging SET payload = i WHERE id = 1 + i MOD 200; SET i = i + 1; END WHILE; END`,
    );
    await database.query('CALL churn(56000)');
    const { findings, unseen } = await examineTable(reader, own);
    // MariaDB tells everybody how much there is; MySQL those who may see whose it is.
    expect(checksOf(findings)).toEqual(database.mariadb ? ['purge_lag'] : []);
    expect(unseen.map(({ code }) => code)).toContain(database.mariadb ? 'server' : 'server_and_purge');
    const seeing = openDatabase({ id: 'test', url: database.url });
    others.push(seeing);
    const lagOf = async () => (await examineTable(seeing, own)).findings.find(({ check }) => check === 'purge_lag');
    // Another file's transaction on the same server may be older for a while.
    await expect.poll(async () => (await lagOf())?.values, { timeout: PATIENCE_MS / 5 }).toMatchObject({ user: 'tester' });
    const lag = await lagOf();
    expect(lag?.cure).toMatch(/^KILL \d+;$/);
    await expectWorded([...findings, ...(lag === undefined ? [] : [lag])]);
    await holder.end();
    await expect.poll(async () => checksOf((await examineTable(seeing, own)).findings)).not.toContain('purge_lag');
  });

  async function expectWorded(findings: readonly Finding[]): Promise<void> {
    for (const locale of ['en', 'ko']) {
      const { default: messages } = (await import(`@/lib/messages/${locale}.json`)) as { default: Record<string, never> };
      const say = createTranslator({ locale, messages, onError: (error) => { throw error; } }) as unknown as (key: string, values: unknown) => string; // prettier-ignore
      for (const { check, values } of findings) {
        const texts = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? 'none']));
        for (const line of ['what', 'why']) expect(say(`doctor.checks.${check}.${line}`, texts)).not.toBe('');
      }
    }
  }
});
