/** Guards, idempotency and records under races and faults where rows have no version of their own: on MySQL and MariaDB. */
import { randomUUID } from 'node:crypto';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useTestMysql } from '@/scripts/testing/mysql';
import { behindBreakingLine } from '@/scripts/testing/breaking-line';
import { createSample, openProven, type ProvenOutbox } from '@/scripts/testing/outbox';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { namastackOutboxRecord } from '@/lib/shape/catalog/namastack-outbox-record';
import type { Shape } from '@/lib/shape/shape';
import { applyInstall, installScript } from './install/install';
import { intervene } from './intervene';
import { previewIntervention } from './preview';
import { insertHeader } from './records';
import { ANNA, BEN, depsFor, freshKey } from '@/fixtures/interventions';

/** Its relay reads the status anew with every poll, so that what waits can be taken out too. */
const shape: Shape = { ...namastackOutboxRecord, archive: { from: ['dead', 'pending', 'retrying'], warnings: [] } };
const DEAD = 'dead-1';
const RETRYING = 'retrying-1';

describe('an intervention on MySQL or MariaDB', () => {
  const database = useTestMysql((db) => createSample(db, shape, { rows: false }));
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, shape);
  });
  afterAll(() => open.close());
  const insert = (id: string, status: string, failures: number): Promise<unknown> =>
    database.query(
      `INSERT INTO outbox_record (id, record_key, record_type, payload, context, partition_no, status, created_at, completed_at, failure_count, failure_reason, next_retry_at, handler_id)
        VALUES (?, 'order-1', 't', '{}', '{}', 1, ?, '2026-01-01 00:00:00', NULL, ?, 'node down', '2026-01-01 00:00:10', 'h')`,
      [id, status, failures],
    );
  beforeEach(async () => {
    for (const table of ['outbox_record', 'outbox_console_archive_sample', 'outbox_console_intervention_event'])
      await database.query(`TRUNCATE TABLE ${table}`);
    // No record can be deleted, not even by the owner; what empties a table is not asked.
    await database.queryUnder('foreign_key_checks = 0', 'TRUNCATE TABLE outbox_console_intervention');
    await insert(DEAD, 'FAILED', 3);
    await insert(RETRYING, 'NEW', 2);
  });
  const deps = () => depsFor(open.outbox, open.known);
  const seen = async (id: string) => ({ id, version: (await getEvent(open.outbox, id))?.event.version ?? '' });
  const request = async (operation: string, ...ids: string[]) => ({
    operation,
    events: await Promise.all(ids.map(seen)),
    reason: 'node is back',
  });
  const row = async (id: string) =>
    (
      await database.query<{ status: string; failure_count: number }>('SELECT status, failure_count FROM outbox_record WHERE id = ?', [id])
    )[0];
  const recordsOf = async (key: string) =>
    database.query<{ outcome: string | null }>('SELECT outcome FROM outbox_console_intervention WHERE `key` = ?', [key]);
  /** Somebody else's connection with a transaction open. */
  const other = async (work: (connection: mysql.Connection) => Promise<void>): Promise<void> => {
    const connection = await mysql.createConnection({ uri: database.url });
    try {
      await connection.query('BEGIN');
      await work(connection);
      await connection.query('ROLLBACK');
    } finally {
      await connection.end();
    }
  };

  it('changes nothing on a row that moved since it was read, and says so', async () => {
    const stale = await request('requeue', DEAD);
    await database.query("UPDATE outbox_record SET status = 'NEW' WHERE id = ?", [DEAD]);
    await database.query("UPDATE outbox_record SET status = 'FAILED', failure_count = 4 WHERE id = ?", [DEAD]);
    expect(await intervene(deps(), ANNA, 'sample', stale, freshKey())).toMatchObject({
      outcome: 'none',
      skipped: [{ id: DEAD, code: 'changed_since_seen' }],
    });
    expect(await row(DEAD)).toEqual({ status: 'FAILED', failure_count: 4 });
  });

  it('is not for a row whose status only looks the same to the collation', async () => {
    const lower = await request('requeue', DEAD);
    await database.query("UPDATE outbox_record SET status = 'failed' WHERE id = ?", [DEAD]);
    expect((await getEvent(open.outbox, DEAD))?.event.state).toBe('unmapped');
    for (const body of [lower, await request('requeue', DEAD)])
      expect((await intervene(deps(), ANNA, 'sample', body, freshKey())).outcome).toBe('none');
    expect(
      (
        await intervene(
          deps(),
          ANNA,
          'sample',
          { ...lower, events: [{ ...lower.events[0], id: DEAD.toUpperCase(), version: lower.events[0]?.version ?? '' }] },
          freshKey(),
        )
      ).skipped,
    ).toMatchObject([{ code: 'not_found' }]);
  });

  it('gives fifty parallel calls with one key one change and fifty equal answers', async () => {
    const body = await request('requeue', DEAD);
    const key = freshKey();
    const answers = await Promise.all(Array.from({ length: 50 }, () => intervene(deps(), ANNA, 'sample', body, key)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ outcome: 'applied', changed: [DEAD] });
    expect(await recordsOf(key)).toEqual([{ outcome: 'applied' }]);
    await database.query("UPDATE outbox_record SET status = 'COMPLETED' WHERE id = ?", [DEAD]);
    expect(await intervene(deps(), ANNA, 'sample', body, key)).toEqual(answers[0]);
  });

  it('lets one of many replicas have a key, and tells the others', async () => {
    const key = freshKey();
    const header = {
      outbox: 'sample',
      actor: ANNA,
      key,
      requestHash: 'h',
      request: { operation: 'requeue', events: [], reason: 'a race' },
    };
    const { engine, write } = open.outbox.database;
    const claims = await Promise.all(
      Array.from({ length: 12 }, async () => write?.((db) => insertHeader(engine, db, { ...header, id: randomUUID() }), { lockMs: 5_000 })),
    );
    expect(claims.filter((claimed) => claimed === true)).toHaveLength(1);
    expect(await recordsOf(key)).toHaveLength(1);
  });

  it('answers in_progress while another replica is still working under the key', async () => {
    const body = await request('requeue', DEAD);
    const key = freshKey();
    await other(async (connection) => {
      await connection.query(
        "INSERT INTO outbox_console_intervention (id, outbox, actor_id, actor_name, actor_role, `key`, request_hash, operation, reason) VALUES (uuid(), 'sample', ?, 'anna', 'operator', ?, 'hash', 'requeue', 'x')",
        [ANNA.id, key],
      );
      await expect(intervene(deps(), ANNA, 'sample', body, key)).rejects.toMatchObject({ code: 'in_progress' });
    });
    expect((await intervene(deps(), ANNA, 'sample', body, key)).outcome).toBe('applied');
  });

  it('refuses the same key for another body, and keeps keys of two people apart', async () => {
    const key = freshKey();
    const first = await request('requeue', DEAD);
    expect((await intervene(deps(), ANNA, 'sample', first, key)).outcome).toBe('applied');
    await expect(intervene(deps(), ANNA, 'sample', { ...first, reason: 'another reason' }, key)).rejects.toMatchObject({
      code: 'key_reused',
    });
    expect(await intervene(deps(), BEN, 'sample', first, key)).toMatchObject({
      actor: BEN.name,
      outcome: 'none',
      skipped: [{ code: 'changed_since_seen' }],
    });
  });

  it('changes 199 of 200 rows when one is locked', async () => {
    for (let n = 0; n < 199; n += 1) await insert(`bulk-${n}`, 'FAILED', 3);
    const page = await listEvents(open.outbox, { state: ['dead'] }, { limit: 200 });
    expect(page.events).toHaveLength(200);
    await other(async (connection) => {
      await connection.query('SELECT 1 FROM outbox_record WHERE id = ? FOR UPDATE', [DEAD]);
      const events = page.events.map(({ id, version }) => ({ id, version }));
      const result = await intervene(deps(), ANNA, 'sample', { operation: 'requeue', events, reason: 'all of them' }, freshKey());
      expect(result.changed).toHaveLength(199);
      expect(result).toMatchObject({ outcome: 'partly', skipped: [{ id: DEAD, code: 'locked' }] });
    });
    expect(
      await database.query('SELECT status, cast(count(*) as char) AS n FROM outbox_record WHERE id <> ? GROUP BY status ORDER BY status', [
        RETRYING,
      ]),
    ).toEqual([
      { status: 'FAILED', n: '1' },
      { status: 'NEW', n: '199' },
    ]);
  });

  it('archives a row that its relay rewrites all the time, at the first try, and restores it as it was', async () => {
    const body = await request('archive', RETRYING);
    const relay = await mysql.createConnection({ uri: database.url });
    let stopped = false;
    const loop = (async () => {
      while (!stopped) {
        await relay.query("UPDATE outbox_record SET failure_count = failure_count + 1, failure_reason = 'again' WHERE id = ?", [RETRYING]);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const result = await intervene(deps(), ANNA, 'sample', body, freshKey());
    stopped = true;
    await loop;
    await relay.end();
    expect(result).toMatchObject({ outcome: 'applied', changed: [RETRYING] });
    const archived = await database.query('SELECT * FROM outbox_console_archive_sample');
    expect((await intervene(deps(), ANNA, 'sample', await request('restore', RETRYING), freshKey())).outcome).toBe('applied');
    const [back] = await database.query('SELECT * FROM outbox_record WHERE id = ?', [RETRYING]);
    expect(archived[0]).toMatchObject(back ?? { missing: true });
  });

  it('leaves a row whose key is taken where it is, and still moves the others', async () => {
    const body = await request('archive', DEAD, RETRYING);
    await database.query(
      "INSERT INTO outbox_console_archive_sample SELECT r.*, utc_timestamp(6), 'x', uuid(), 'x', 'dead', 'outbox_record' FROM outbox_record r WHERE id = ?",
      [DEAD],
    );
    const result = await intervene(deps(), ANNA, 'sample', body, freshKey());
    expect(result).toMatchObject({ outcome: 'partly', changed: [RETRYING], skipped: [{ id: DEAD, code: 'already_exists' }] });
    expect(await row(DEAD)).toEqual({ status: 'FAILED', failure_count: 3 });
  });

  it('undoes everything when the record cannot be written', async () => {
    const body = await request('requeue', DEAD);
    const key = freshKey();
    await database.query("CREATE TRIGGER never BEFORE INSERT ON outbox_console_intervention_event FOR EACH ROW SIGNAL SQLSTATE '45000'");
    await expect(intervene(deps(), ANNA, 'sample', body, key)).rejects.toThrow();
    await database.query('DROP TRIGGER never');
    expect(await row(DEAD)).toEqual({ status: 'FAILED', failure_count: 3 });
    expect(await recordsOf(key)).toEqual([]);
  });

  it('never rewrites a committed record', async () => {
    const { interventionId } = await intervene(deps(), ANNA, 'sample', await request('requeue', DEAD), freshKey());
    for (const statement of [
      "UPDATE outbox_console_intervention SET outcome = 'none' WHERE id = ?",
      'DELETE FROM outbox_console_intervention WHERE id = ?',
      "UPDATE outbox_console_intervention_event SET code = 'locked' WHERE intervention_id = ?",
      'DELETE FROM outbox_console_intervention_event WHERE intervention_id = ?',
      "INSERT INTO outbox_console_intervention_event (intervention_id, position, event_id) VALUES (?, 9, 'added')",
    ])
      await expect(database.query(statement, [interventionId]), statement).rejects.toThrow(
        statement.startsWith('DELETE FROM outbox_console_intervention W') ? /never changed|foreign key/ : 'never changed',
      );
  });

  it('says in a preview what it would do, and does nothing', async () => {
    const preview = await previewIntervention(open.outbox, await request('requeue', DEAD));
    expect(preview).toMatchObject({ allowed: 1, rows: [{ allowed: true }] });
    expect(preview.sql.map(({ text }) => text.split(' ')[0])).toEqual(['select', 'update']);
    expect(preview.sql[0]?.text).toContain('for update skip locked');
    expect(await row(DEAD)).toEqual({ status: 'FAILED', failure_count: 3 });
  });

  it('settles a commit whose answer was lost by looking, not by repeating', async () => {
    const { database: proxied, broke, close } = await behindBreakingLine('after', database);
    const behind = depsFor({ ...open.outbox, database: proxied }, open.known);
    const key = freshKey();
    expect(await intervene(behind, ANNA, 'sample', await request('requeue', DEAD), key)).toMatchObject({
      outcome: 'applied',
      changed: [DEAD],
    });
    expect(await recordsOf(key)).toEqual([{ outcome: 'applied' }]);
    expect(await row(DEAD)).toEqual({ status: 'NEW', failure_count: 0 });
    expect(broke()).toBe(true);
    await close();
  });

  it('says that nothing was changed when the commit never arrived', async () => {
    const { database: proxied, broke, close } = await behindBreakingLine('before', database);
    const behind = depsFor({ ...open.outbox, database: proxied }, open.known);
    const key = freshKey();
    await expect(intervene(behind, ANNA, 'sample', await request('requeue', DEAD), key)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await recordsOf(key)).toEqual([]);
    expect(await row(DEAD)).toEqual({ status: 'FAILED', failure_count: 3 });
    expect(broke()).toBe(true);
    await close();
  });

  it('is installed again without changing anything, and after a break in the middle', async () => {
    const tables = () =>
      database.query<{ c: string }>(
        'SELECT concat(table_name, column_name, column_type) AS c FROM information_schema.columns WHERE table_schema = database() ORDER BY 1',
      );
    const before = await tables();
    await applyInstall(open.outbox, database.url);
    expect(await tables()).toEqual(before);
    // What is there after a break: some tables, no trigger.
    await database.query('DROP TRIGGER outbox_console_intervention_no_update');
    await database.query('DROP TABLE outbox_console_archive_sample');
    await applyInstall(await open.rebind(), database.url);
    expect(await tables()).toEqual(before);
    expect((await database.query('SHOW TRIGGERS')).length).toBe(5);
    const script = await installScript(open.outbox);
    expect(script).not.toContain('BEGIN;');
    expect(script).toMatch(/DELIMITER \/\/\nCREATE TRIGGER/);
  });
});
