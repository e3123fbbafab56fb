/** Migrations of a store that has been used: what they make of its rows, and what they keep others from meanwhile. */
import { Kysely, Migrator } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { lanesOfOwn } from '@/lib/database/connections/share';
import { postgresDialect } from '@/lib/database/postgres/pool';
import { useTestDatabase } from '@/scripts/testing/database';
import pg from 'pg';
import { lackedRecords } from './audit';
import { MIGRATIONS } from './migrations';
import { migrateStore, openStore } from './store';

const UP_TO_005 = Object.fromEntries(Object.entries(MIGRATIONS).slice(0, 5));
const LATER = Object.keys(MIGRATIONS).slice(5);
/** Records of one to four lines, and tries that never were committed. */
const RECORDS = 10_000;
const NOT_APPLIED = 50;

const recordId = (n: string): string => `lpad(to_hex(${n}), 32, '0')::uuid`;
const column = (rows: Record<string, unknown>[], name: string): unknown[] => rows.map((row) => row[name]);

describe('a store that holds audit entries of an earlier version', () => {
  const database = useTestDatabase();
  const count = async (from: string): Promise<number> =>
    Number((await database.query<{ n: string }>(`SELECT count(*) AS n FROM ${from}`))[0]?.n);

  beforeAll(async () => {
    const db = new Kysely<unknown>({
      dialect: postgresDialect({
        url: database.url,
        applicationName: 'earlier',
        lane: lanesOfOwn(2, 3_000),
        connectTimeoutMs: 3_000,
        clientTimeoutMs: 60_000,
        onIdleError: () => undefined,
      }),
    });
    const { error } = await new Migrator({ db, provider: { getMigrations: () => Promise.resolve(UP_TO_005) } }).migrateToLatest();
    await db.destroy();
    expect(error).toBeUndefined();
    const common = `'account:1', 'mina@example.com', 'operator'`;
    const columns = 'id, at, actor_id, actor_name, actor_role, operation, outbox, event_id, reason, outcome, code, intervention_id';
    await database.query(`INSERT INTO audit_entry (${columns}, recorded_at)
      SELECT gen_random_uuid(), now() - interval '40 days', ${common}, 'retry', 'outbox-' || r % 7, 'e' || line, 'r', 'applied', NULL, ${recordId('r')}, now() - r * interval '1 minute' - line * interval '1 second'
      FROM generate_series(1, ${String(RECORDS)}) AS r, generate_series(0, r % 4) AS line`);
    await database.query(`INSERT INTO audit_entry (${columns})
      SELECT gen_random_uuid(), now(), ${common}, 'retry', 'outbox-1', 'e1', 'r', 'none', 'not_applied', ${recordId(`${String(RECORDS)} + r`)} FROM generate_series(1, ${String(NOT_APPLIED)}) AS r`);
    await database.query(`INSERT INTO audit_entry (${columns})
      SELECT gen_random_uuid(), now(), ${common}, 'account_add', CASE WHEN r % 2 = 0 THEN '' ELSE 'outbox-2' END, NULL, '', 'refused', NULL, NULL FROM generate_series(1, 200) AS r`);
    await database.query(`INSERT INTO carrier_cursor SELECT 'outbox-' || r, now() FROM generate_series(0, 6) AS r`);
    await database.query(
      `INSERT INTO account (id, email, password_hash, role) VALUES (gen_random_uuid(), 'mina@example.com', 'x', 'operator')`,
    );
    await database.query(
      `INSERT INTO unsettled_intervention (id, outbox, actor, key, request, at) VALUES (gen_random_uuid(), 'outbox-1', '{}', 'k', '{}', now())`,
    );
    await database.query('ANALYZE');
  });

  it('is as it was when the way up breaks off, and keeps nobody from its audit until the last step', async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE api_token IN ACCESS SHARE MODE');
    const migrating = migrateStore(database.url);
    const waiting = (): Promise<{ pid: number }[]> =>
      database.query(`SELECT pid FROM pg_locks WHERE relation = 'api_token'::regclass AND NOT granted`);
    await expect.poll(waiting, { timeout: 30_000 }).toHaveLength(1);
    // The long part is done, and the version before goes on: it reads and writes. Autovacuum has locks of its own.
    const held = `SELECT DISTINCT mode FROM pg_locks WHERE relation = 'audit_entry'::regclass AND granted
      AND pid NOT IN (SELECT pid FROM pg_stat_activity WHERE backend_type = 'autovacuum worker')`;
    expect(column(await database.query(held), 'mode')).toEqual(['AccessShareLock']);
    await database.query(`INSERT INTO audit_entry (id, at, actor_id, actor_name, actor_role, operation, outbox, reason, outcome, intervention_id)
      VALUES (gen_random_uuid(), now(), 'a', 'late', 'operator', 'retry', 'outbox-1', 'r', 'applied', ${recordId('999999')})`);
    for (const { pid } of await waiting()) await database.query('SELECT pg_terminate_backend($1)', [pid]);
    expect(await migrating).toMatchObject({ ok: false });
    await holder.query('ROLLBACK');
    await holder.end();
    expect(await count('carrier_cursor')).toBe(7);
    expect(await database.query(`SELECT to_regclass('carried_record') AS there`)).toEqual([{ there: null }]);
    expect(await count('kysely_migration')).toBe(Object.keys(UP_TO_005).length);
  });

  it('is brought up by the next try: each record with its lines, tries that never were left out, no outbox where there was none', async () => {
    expect(await migrateStore(database.url)).toEqual({ ok: true, applied: LATER });
    const wrong =
      await database.query(`SELECT r FROM generate_series(1, ${String(RECORDS)}) AS r LEFT JOIN carried_record AS c ON c.id = ${recordId('r')}
      WHERE c.id IS NULL OR c.lines <> r % 4 + 1 OR c.outbox <> 'outbox-' || r % 7 OR c.grown_at IS NOT NULL
        OR c.carried_at <> (SELECT max(recorded_at) FROM audit_entry AS e WHERE e.intervention_id = c.id)`);
    expect(wrong).toEqual([]);
    // The one that came meanwhile too.
    expect(await count('carried_record')).toBe(RECORDS + 1);
    expect(await count(`audit_entry WHERE outbox = ''`)).toBe(0);
    expect(await count('audit_entry WHERE outbox IS NULL')).toBe(100);
    expect(await count('account WHERE last_sign_in_at IS NULL')).toBe(1);
    expect(await count('unsettled_intervention WHERE not_applied_at IS NULL')).toBe(1);
    // Older acts are of no interest to figures any more.
    expect(await database.query('SELECT outbox FROM acted')).toEqual([{ outbox: 'outbox-1' }]);
    expect(await migrateStore(database.url)).toEqual({ ok: true, applied: [] });
  });

  it('knows afterwards what it has, and lacks what it never had', async () => {
    const store = openStore(database.url);
    const id = (n: number): string =>
      n
        .toString(16)
        .padStart(32, '0')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const there = Array.from({ length: 200 }, (_, at) => ({ id: id(at + 1), lines: ((at + 1) % 4) + 1 }));
    const lacking = { id: id(RECORDS + 1), lines: 1 };
    expect(await lackedRecords(store.db, [...there, lacking])).toEqual(new Set([lacking.id]));
    await store.close();
  });

  it('is read for it once, and written by an index where its entries name no outbox', async () => {
    const plan = async (statement: string): Promise<string> => {
      const rows = await database.query<Record<string, string>>(`EXPLAIN ${statement}`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const filled = await plan(`SELECT intervention_id, min(outbox), count(*), max(recorded_at) FROM audit_entry
      WHERE intervention_id IS NOT NULL AND code IS DISTINCT FROM 'not_applied' GROUP BY intervention_id`);
    expect(filled.match(/on audit_entry/g)).toHaveLength(1);
    expect(filled).not.toMatch(/SubPlan|Nested Loop/);
    expect(await plan(`UPDATE audit_entry SET outbox = NULL WHERE outbox = ''`)).toMatch(/Index.*audit_entry_event/);
  });
});
