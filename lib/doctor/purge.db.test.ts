/** The purge that the doctor prints: it deletes old published rows and no others, and reads few rows for each that it deletes. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { defineShape } from '@/lib/shape/define';
import type { Shape, ShapeInput } from '@/lib/shape/shape';
import type { Finding } from '@/lib/shared/doctor';
import { examineTable } from '@/fixtures/doctor';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import { createRoles, settingsIn } from '@/scripts/testing/outbox';

const shapeOf = (columns: Partial<ShapeInput['columns']> = {}): Shape =>
  defineShape({
    key: 'inline', label: 'Own table', origin: 'nobody', engines: ['postgres', 'mysql'], table: 'q',
    columns: { id: 'id', type: 'kind', createdAt: 'made_at', publishedAt: 'sent_at', payload: 'body', ...columns },
    states: [
      { state: 'published', when: { column: 'status', equals: 'DONE' } },
      { state: 'dead', when: { column: 'status', equals: 'FAILED' } },
      { state: 'pending', when: { column: 'status', equals: 'NEW' } },
    ],
  }); // prettier-ignore

const BATCH = 5_000;
/** In order of time: 24,000 old events, of which every fortieth failed after a send, and 16,000 of today. */
const [OLD, TODAY] = [24_000, 16_000];
const FAILED = OLD / 40;

interface Purged {
  sent?: string;
  key?: string;
  /** The row's part of a partitioned table. */
  rest?: string[];
  /** How the time of sending, `{t}`, is written. */
  spelled?: string;
  index: string[];
  columns?: Partial<ShapeInput['columns']>;
}

const PURGED: Record<string, Purged> = {
  'by time of sending': { index: ['(sent_at)'] },
  'by time of sending, those without one first': { index: ['(sent_at NULLS FIRST, made_at)'] },
  'newest first': { index: ['(sent_at DESC)'] },
  'sent ones alone': { index: ['(sent_at) WHERE sent_at IS NOT NULL'] },
  'state first': { index: ['(status, sent_at)'] },
  'by time of creation alone': { index: ['(made_at)'] },
  'in blocks': { index: [' USING brin (sent_at)'] },
  'key of two columns, of which the first says little': { index: ['(sent_at)'], key: 'kind, id', columns: { id: ['kind', 'id'] } },
  'times without a zone': { index: ['(sent_at)'], sent: 'timestamp', spelled: `{t} AT TIME ZONE 'Asia/Seoul'` },
  'times as milliseconds': { index: ['(sent_at)'], sent: 'bigint', spelled: 'extract(epoch from {t}) * 1000', columns: { publishedAt: { column: 'sent_at', time: 'epoch_ms' } } },
  'parts': {
    index: ['(sent_at)'], key: 'id, made_at',
    rest: [`CREATE TABLE {s}.q_old PARTITION OF {s}.q FOR VALUES FROM ('2000-01-01') TO (now() - interval '50 days')`, 'CREATE TABLE {s}.q_new PARTITION OF {s}.q DEFAULT'],
  },
}; // prettier-ignore

/** Rows that the scans of a plan read, and whether it sorts any. */
function effortOf(plan: Plan): { read: number; sorts: boolean } {
  const below = (plan.Plans ?? []).map(effortOf);
  const scanned = /Scan/.test(plan['Node Type']) && !['Bitmap Index Scan', 'CTE Scan'].includes(plan['Node Type']);
  const own = scanned ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return {
    read: own + below.reduce((sum, { read }) => sum + read, 0),
    sorts: /Sort/.test(plan['Node Type']) || below.some(({ sorts }) => sorts),
  };
}
interface Plan {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const retention = (findings: readonly Finding[]): Finding | undefined => findings.find(({ check }) => check === 'retention_absent');

describe('the purge of a table on PostgreSQL', () => {
  let reader: Database;
  const database = useTestDatabase();

  beforeAll(async () => {
    const roles = await createRoles(database);
    reader = openDatabase({ id: 'test', url: roles.reader });
  });
  afterAll(() => reader.close());

  async function make(schema: string, { sent = 'timestamptz', key = 'id', rest = [], spelled = '{t}', index }: Purged): Promise<void> {
    const say = (text: string): Promise<unknown> => database.query(text.replaceAll('{s}', schema));
    await say(`CREATE SCHEMA {s}; GRANT USAGE ON SCHEMA {s} TO r_${database.name}`);
    await say(`ALTER DEFAULT PRIVILEGES IN SCHEMA {s} GRANT SELECT ON TABLES TO r_${database.name}`);
    await say(
      `CREATE TABLE {s}.q (id bigserial, kind text NOT NULL, made_at timestamptz NOT NULL, sent_at ${sent}, status text NOT NULL, body text NOT NULL DEFAULT repeat('x', 200), PRIMARY KEY (${key}))${rest.length > 0 ? ' PARTITION BY RANGE (made_at)' : ''}`,
    );
    for (const part of rest) await say(part);
    for (const columns of index) await say(`CREATE INDEX ON {s}.q ${columns}`);
    const time = `now() - interval '100 days' * (i <= ${OLD})::int - (${OLD + TODAY} - i) * interval '1 second'`;
    await say(
      `INSERT INTO {s}.q (kind, made_at, sent_at, status) SELECT 'k' || i % 5, ${time}, ${spelled.replace('{t}', `(${time})`)}, CASE WHEN i <= ${OLD} AND i % 40 = 0 THEN 'FAILED' ELSE 'DONE' END
       FROM generate_series(1, ${OLD + TODAY}) AS i`,
    );
    await say(`INSERT INTO {s}.q (kind, made_at, status) SELECT 'k', now(), 'NEW' FROM generate_series(1, 100)`);
    await database.query(`VACUUM (ANALYZE) ${schema}.q`);
  }

  const cureOf = async (schema: string, { columns = {}, spelled }: Purged): Promise<Finding | undefined> => {
    const parameters = spelled?.includes('Seoul') === true ? { timeZone: 'Asia/Seoul' } : {};
    const settings = settingsIn(shapeOf(columns), schema, { id: 'q', inline: true, table: { schema, table: 'q' }, parameters });
    return retention((await examineTable(reader, settings)).findings);
  };

  async function planOf(statement: string): Promise<Plan> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`);
    await client.query('ROLLBACK');
    await client.end();
    const [explained] = rows;
    if (explained === undefined) throw new Error('no plan');
    return explained['QUERY PLAN'][0].Plan;
  }

  it.each(Object.entries(PURGED))('with its index %s', async (title, purged) => {
    const schema = `s_${title.replace(/\W+/g, '_')}`;
    await make(schema, purged);
    const finding = await cureOf(schema, purged);
    expect(finding?.values.purge).toBe('statement');
    const cure = finding?.cure ?? '';
    const { read, sorts } = effortOf(await planOf(cure));
    // Each row is found once and fetched once to be deleted, in every part; those that failed lie between them.
    expect(read).toBeLessThan((purged.rest === undefined ? 2.2 : 3.2) * BATCH);
    expect(sorts).toBe(false);

    const left = async (): Promise<unknown> =>
      (
        await database.query(
          `SELECT count(*) FILTER (WHERE made_at < now() - interval '50 days' AND status = 'DONE')::int AS old, count(*) FILTER (WHERE status = 'FAILED')::int AS failed,
            count(*) FILTER (WHERE made_at > now() - interval '50 days' AND status = 'DONE')::int AS today, count(*) FILTER (WHERE status = 'NEW')::int AS new FROM ${schema}.q`,
        )
      )[0];
    await database.query(cure);
    expect(await left()).toEqual({ old: OLD - FAILED - BATCH, failed: FAILED, today: TODAY, new: 100 });
    for (let batch = 0; batch < 4; batch += 1) await database.query(cure);
    expect(await left()).toEqual({ old: 0, failed: FAILED, today: TODAY, new: 100 });
  });

  it('is not printed where no index leads to the rows: the index is made first', async () => {
    await make('none', { index: [] });
    expect(await cureOf('none', { index: [] })).toMatchObject({ cure: null, values: { purge: 'no_index' } });
  });
});

describe('the purge of a table on MySQL and MariaDB', () => {
  let reader: Database;
  const database = useTestMysql();

  beforeAll(async () => {
    const roles = await createRoles(database);
    reader = openDatabase({ id: 'test', url: roles.reader });
    await database.query('CREATE TABLE digits (d int PRIMARY KEY)');
    await database.query('INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)');
  });
  afterAll(() => reader.close());

  it.each(['sent_at', 'status, sent_at', 'made_at'])('with its index (%s)', async (columns) => {
    const table = `by_${columns.replace(/\W+/g, '_')}`;
    const [time, count] = ['UTC_TIMESTAMP(6) - INTERVAL IF(i <= 24000, 100, 0) DAY - INTERVAL (40000 - i) SECOND', OLD + TODAY];
    await database.query(
      `CREATE TABLE ${table} (id bigint AUTO_INCREMENT PRIMARY KEY, kind varchar(16) NOT NULL, made_at datetime(6) NOT NULL, sent_at datetime(6), status varchar(16) NOT NULL, body text NOT NULL, KEY (${columns}))`,
    );
    const digits = ['a', 'b', 'c', 'd', 'e'].map((name) => `digits ${name}`).join(', ');
    await database.query(
      `INSERT INTO ${table} (kind, made_at, sent_at, status, body) SELECT 'k', ${time}, ${time}, IF(i <= ${OLD} AND i % 40 = 0, 'FAILED', 'DONE'), REPEAT('x', 200)
       FROM (SELECT a.d * 10000 + b.d * 1000 + c.d * 100 + d.d * 10 + e.d + 1 AS i FROM ${digits}) AS numbered WHERE i <= ${count} ORDER BY i`,
    );
    await database.query(`GRANT SELECT ON ${table} TO r_${database.name}@'%'`);
    await database.query(`ANALYZE TABLE ${table}`);
    const settings = { ...settingsIn(shapeOf(), '', { id: 'q', inline: true }), table };
    const finding = retention((await examineTable(reader, settings)).findings);
    expect(finding?.values.purge).toBe('statement');

    const client = await mysql.createConnection(database.url);
    await client.query('FLUSH STATUS');
    await client.query(finding?.cure ?? '');
    const [counters] = await client.query<mysql.RowDataPacket[]>(`SHOW SESSION STATUS LIKE 'Handler_read%'`);
    await client.end();
    expect(counters.reduce((sum, { Value }) => sum + Number(Value), 0)).toBeLessThan(2.2 * BATCH);
    const [left] = await database.query(`SELECT SUM(status = 'DONE') + 0e0 AS done, SUM(status = 'FAILED') + 0e0 AS failed FROM ${table}`);
    expect(left).toEqual({ done: OLD - FAILED + TODAY - BATCH, failed: FAILED });
  });
});
