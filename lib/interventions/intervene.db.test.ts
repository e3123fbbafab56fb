/** Guards, idempotency and records under races and faults, on the escrow shape. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { behindBreakingLine } from '@/scripts/testing/breaking-line';
import { createSample, openSample, type OpenOutbox } from '@/scripts/testing/outbox';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { publishedAt } from '@/lib/shape/catalog/published-at';
import type { Problem } from '@/lib/shared/problems';
import { applyInstall } from './install/install';
import { intervene } from './intervene';
import { previewIntervention } from './preview';
import { ANNA, BEN, depsFor, freshKey } from '@/fixtures/interventions';

const TABLE = 'p2p.transaction_outbox';
const DEAD = '00000000-0000-4000-8000-000000000005';
const RETRYING = '00000000-0000-4000-8000-000000000002';

describe('an intervention', () => {
  const database = useTestDatabase((db) => createSample(db, escrowStatus, { rows: false }));
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, escrowStatus);
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    await database.query(`TRUNCATE ${TABLE}, outbox_console.archive_sample, outbox_console.intervention CASCADE`);
    await database.query(`INSERT INTO ${TABLE} (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, retry_count, error_message)
      VALUES ('${DEAD}', 'k5', 'order_complete', 'order-2', 'failed', '{}', 5, 'node down'), ('${RETRYING}', 'k2', 'order_create', 'order-1', 'pending', '{}', 2, 'slow')`);
  });
  const seen = async (id: string) => ({ id, version: (await getEvent(open.outbox, id))?.event.version ?? '' });
  const request = async (operation: string, ...ids: string[]) => ({
    operation,
    events: await Promise.all(ids.map(seen)),
    reason: 'node is back',
  });

  it('changes nothing on a row that moved since it was read, and says so', async () => {
    const stale = await request('requeue', DEAD);
    // failed → pending → failed: the same state, another row than the one that was seen.
    await database.query(`UPDATE ${TABLE} SET status = 'pending' WHERE id = $1`, [DEAD]);
    await database.query(`UPDATE ${TABLE} SET status = 'failed', retry_count = 6 WHERE id = $1`, [DEAD]);
    const result = await intervene(depsFor(open.outbox), ANNA, 'sample', stale, freshKey());
    expect(result).toMatchObject({ outcome: 'none', changed: [], skipped: [{ id: DEAD, code: 'changed_since_seen' }] });
    expect(await database.query(`SELECT status, retry_count FROM ${TABLE} WHERE id = $1`, [DEAD])).toEqual([
      { status: 'failed', retry_count: 6 },
    ]);
  });

  it('names what a row became: published by the relay, with the time', async () => {
    const stale = await request('requeue', DEAD);
    await database.query(`UPDATE ${TABLE} SET status = 'processed', processed_time = '2026-03-01T10:00:00Z' WHERE id = $1`, [DEAD]);
    const result = await intervene(depsFor(open.outbox), ANNA, 'sample', stale, freshKey());
    expect(result.skipped).toEqual([
      { id: DEAD, code: 'already_published', detail: { state: 'published', at: '2026-03-01T10:00:00.000000Z' } },
    ]);
  });

  it('refuses a version that another console made up', async () => {
    for (const version of ['', 'x', 'm.1.zz', `m.0.${'0'.repeat(32)}`, 'd.1.00000000000000000000000000000000']) {
      const result = await intervene(
        depsFor(open.outbox),
        ANNA,
        'sample',
        { operation: 'requeue', events: [{ id: DEAD, version }], reason: 'made up' },
        freshKey(),
      );
      expect(result.skipped).toMatchObject([{ id: DEAD, code: 'changed_since_seen' }]);
    }
  });

  it('gives fifty parallel calls with one key one change and fifty equal answers', async () => {
    const body = await request('requeue', DEAD);
    const key = freshKey();
    const answers = await Promise.all(Array.from({ length: 50 }, () => intervene(depsFor(open.outbox), ANNA, 'sample', body, key)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ outcome: 'applied', changed: [DEAD] });
    expect(await database.query('SELECT count(*)::int AS n FROM outbox_console.intervention')).toEqual([{ n: 1 }]);
    // Replayed the next day, after the row moved on: the same answer.
    await database.query(`UPDATE ${TABLE} SET status = 'processed' WHERE id = $1`, [DEAD]);
    expect(await intervene(depsFor(open.outbox), ANNA, 'sample', body, key)).toEqual(answers[0]);
  });

  it('answers in_progress while another replica is still working under the key', async () => {
    const body = await request('requeue', DEAD);
    const key = freshKey();
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query(
        `INSERT INTO outbox_console.intervention (id, outbox, actor_id, actor_name, actor_role, key, request_hash, operation, reason)
        VALUES (gen_random_uuid(), 'sample', $1, 'anna', 'operator', $2, 'hash', 'requeue', 'x')`,
        [ANNA.id, key],
      );
      await expect(intervene(depsFor(open.outbox), ANNA, 'sample', body, key)).rejects.toMatchObject({
        code: 'in_progress',
      } satisfies Partial<Problem>);
      await other.query('ROLLBACK');
    } finally {
      await other.end();
    }
    expect((await intervene(depsFor(open.outbox), ANNA, 'sample', body, key)).outcome).toBe('applied');
  });

  it('refuses the same key for another body, and keeps keys of two people apart', async () => {
    const key = freshKey();
    const first = await request('requeue', DEAD);
    expect((await intervene(depsFor(open.outbox), ANNA, 'sample', first, key)).outcome).toBe('applied');
    await expect(intervene(depsFor(open.outbox), ANNA, 'sample', { ...first, reason: 'another reason' }, key)).rejects.toMatchObject({
      code: 'key_reused',
    });
    const second = await intervene(depsFor(open.outbox), BEN, 'sample', first, key);
    expect(second).toMatchObject({ actor: BEN.name, outcome: 'none', skipped: [{ code: 'changed_since_seen' }] });
  });

  it('changes 199 of 200 rows when one is locked', async () => {
    await database.query(`INSERT INTO ${TABLE} (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, retry_count)
      SELECT gen_random_uuid(), 'b' || i, 'order_complete', 'order-' || i, 'failed', '{}', 5 FROM generate_series(1, 199) AS i`);
    const page = await listEvents(open.outbox, { state: ['dead'] }, { limit: 200 });
    expect(page.events).toHaveLength(200);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query(`SELECT 1 FROM ${TABLE} WHERE id = $1 FOR UPDATE`, [DEAD]);
      const result = await intervene(
        depsFor(open.outbox),
        ANNA,
        'sample',
        { operation: 'requeue', events: page.events.map(({ id, version }) => ({ id, version })), reason: 'all of them' },
        freshKey(),
      );
      expect(result.outcome).toBe('partly');
      expect(result.changed).toHaveLength(199);
      expect(result.skipped).toMatchObject([{ id: DEAD, code: 'locked' }]);
    } finally {
      await other.query('ROLLBACK');
      await other.end();
    }
    expect(
      await database.query(`SELECT status, count(*)::int AS n FROM ${TABLE} WHERE id <> '${RETRYING}' GROUP BY status ORDER BY status`),
    ).toEqual([
      { status: 'failed', n: 1 },
      { status: 'pending', n: 199 },
    ]);
  });

  it('archives a row that its relay rewrites all the time, at the first try', async () => {
    const body = await request('archive', RETRYING);
    const rewriting = new pg.Client({ connectionString: database.url });
    await rewriting.connect();
    let stopped = false;
    const loop = (async () => {
      while (!stopped) {
        await rewriting.query('BEGIN');
        await rewriting.query(
          `UPDATE ${TABLE} SET retry_count = retry_count + 1, last_attempt_time = clock_timestamp(), error_message = 'again' WHERE id = $1`,
          [RETRYING],
        );
        await new Promise((resolve) => setTimeout(resolve, 60));
        await rewriting.query('COMMIT');
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 400));
    const result = await intervene(depsFor(open.outbox), ANNA, 'sample', body, freshKey());
    stopped = true;
    await loop;
    await rewriting.end();
    expect(result).toMatchObject({ outcome: 'applied', changed: [RETRYING] });
  });

  it('undoes everything when the record cannot be written', async () => {
    const body = await request('requeue', DEAD);
    await database.query('ALTER TABLE outbox_console.intervention_event ADD CONSTRAINT never CHECK (false) NOT VALID');
    await expect(intervene(depsFor(open.outbox), ANNA, 'sample', body, freshKey())).rejects.toThrow();
    await database.query('ALTER TABLE outbox_console.intervention_event DROP CONSTRAINT never');
    expect(await database.query(`SELECT status FROM ${TABLE} WHERE id = $1`, [DEAD])).toEqual([{ status: 'failed' }]);
    expect(await database.query('SELECT count(*)::int AS n FROM outbox_console.intervention')).toEqual([{ n: 0 }]);
  });

  it('changes nothing while the store cannot take the audit', async () => {
    const body = await request('requeue', DEAD);
    const deps = { ...depsFor(open.outbox), requireStore: () => Promise.reject(new Error('store away')) };
    await expect(intervene(deps, ANNA, 'sample', body, freshKey())).rejects.toThrow('store away');
    expect(await database.query(`SELECT status FROM ${TABLE} WHERE id = $1`, [DEAD])).toEqual([{ status: 'failed' }]);
  });

  const addedAfterwards = "INSERT INTO outbox_console.intervention_event (intervention_id, position, event_id) VALUES ($1, 9, 'added')";

  it('never rewrites a committed record', async () => {
    const result = await intervene(depsFor(open.outbox), ANNA, 'sample', await request('requeue', DEAD), freshKey());
    for (const statement of [
      "UPDATE outbox_console.intervention SET outcome = 'none' WHERE id = $1",
      'DELETE FROM outbox_console.intervention WHERE id = $1',
      "UPDATE outbox_console.intervention_event SET code = 'locked' WHERE intervention_id = $1",
      'DELETE FROM outbox_console.intervention_event WHERE intervention_id = $1',
      addedAfterwards,
      // Beside a line that may be added.
      `WITH another AS (INSERT INTO outbox_console.intervention (id, outbox, actor_id, actor_name, actor_role, key, operation, reason, request_hash)
        SELECT gen_random_uuid(), outbox, actor_id, actor_name, actor_role, 'another', operation, reason, request_hash
          FROM outbox_console.intervention WHERE id = $1 RETURNING id)
        INSERT INTO outbox_console.intervention_event (intervention_id, position, event_id)
        SELECT id, 9, 'added' FROM another UNION ALL VALUES ($1, 9, 'added')`,
    ])
      await expect(database.query(statement, [result.interventionId]), statement).rejects.toThrow('never changed');
    expect(await database.query('SELECT event_id FROM outbox_console.intervention_event')).toEqual([{ event_id: DEAD }]);
  });

  it('has its record guarded by an older installation, and by the next one, too', async () => {
    await database.query(`CREATE OR REPLACE FUNCTION outbox_console.refuse_rewriting_lines() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NOT EXISTS (SELECT FROM outbox_console.intervention WHERE id = NEW.intervention_id AND outcome IS NOT NULL) THEN RETURN NEW; END IF;
      RAISE EXCEPTION 'an intervention record is never changed'; END $$`);
    await database.query(`DROP TRIGGER refuse_adding ON outbox_console.intervention_event`);
    await database.query(`CREATE OR REPLACE TRIGGER refuse_rewriting BEFORE INSERT OR UPDATE OR DELETE ON outbox_console.intervention_event
      FOR EACH ROW EXECUTE FUNCTION outbox_console.refuse_rewriting_lines()`);
    for (const id of [DEAD, RETRYING]) {
      const { outcome, interventionId } = await intervene(depsFor(open.outbox), ANNA, 'sample', await request('archive', id), freshKey());
      expect(outcome).toBe('applied');
      await expect(database.query(addedAfterwards, [interventionId])).rejects.toThrow('never changed');
      await applyInstall(open.outbox, database.url);
    }
  });

  it('finds nothing under a text that cannot be an id, and changes the rest', async () => {
    const body = await request('requeue', DEAD);
    const foreign = ['not-a-uuid', "1' OR '1'='1", DEAD.toUpperCase().replace('0005', 'ABCD'), '٣'].map((id) => ({ id, version: 'm.1.x' }));
    const mixed = { ...body, events: [...foreign, ...body.events] };
    expect((await previewIntervention(open.outbox, mixed)).allowed).toBe(1);
    const result = await intervene(depsFor(open.outbox), ANNA, 'sample', mixed, freshKey());
    expect(result).toMatchObject({ outcome: 'partly', changed: [DEAD] });
    expect(result.skipped.map(({ id, code }) => [id, code])).toEqual(foreign.map(({ id }) => [id, 'not_found']));
  });

  it('says in a preview what it would do, and does nothing', async () => {
    const preview = await previewIntervention(open.outbox, await request('requeue', DEAD, RETRYING));
    const cautious = {
      ...open.outbox,
      shape: { ...open.outbox.shape, cautions: { dead: ['may_already_be_out'], pending: ['relay_may_be_sending'] } },
    };
    const warnedOf = async (operation: string) => (await previewIntervention(cautious, await request(operation, DEAD, RETRYING))).warnings;
    // What the event's page says of its state, counted; not where nothing is sent again.
    expect(await warnedOf('requeue')).toEqual([{ code: 'may_already_be_out', count: 1 }]);
    expect(await warnedOf('archive')).toEqual([]);
    expect(preview).toMatchObject({ allowed: 2, warnings: [], rows: [{ allowed: true }, { allowed: true }] });
    expect(preview.sql.some(({ text }) => /^update "p2p"\."transaction_outbox"/.test(text))).toBe(true);
    expect((await previewIntervention(open.outbox, await request('release', DEAD))).rows).toMatchObject([
      { allowed: false, code: 'wrong_state' },
    ]);
    expect(await database.query(`SELECT status FROM ${TABLE} WHERE id = $1`, [DEAD])).toEqual([{ status: 'failed' }]);
  });

  it('lists every field that is wrong before it touches anything', async () => {
    const bad = intervene(depsFor(open.outbox), ANNA, 'sample', { operation: 'delete', events: [], reason: ' ' }, '');
    await expect(bad).rejects.toMatchObject({
      code: 'invalid',
      fields: {
        operation: expect.any(String) as string,
        events: expect.any(String) as string,
        reason: expect.any(String) as string,
        'Idempotency-Key': expect.any(String) as string,
      },
    });
  });

  it('settles a commit whose answer was lost by looking, not by repeating', async () => {
    const line = await behindBreakingLine('after', database);
    const result = await intervene(
      depsFor({ ...open.outbox, database: line.database }),
      ANNA,
      'sample',
      await request('requeue', DEAD),
      freshKey(),
    );
    expect(line.broke()).toBe(true);
    expect(result).toMatchObject({ outcome: 'applied', changed: [DEAD] });
    expect(await database.query('SELECT count(*)::int AS n FROM outbox_console.intervention')).toEqual([{ n: 1 }]);
    await line.close();
  });

  it('says that nothing was changed when the commit never arrived', async () => {
    const line = await behindBreakingLine('before', database);
    const attempt = intervene(
      depsFor({ ...open.outbox, database: line.database }),
      ANNA,
      'sample',
      await request('requeue', DEAD),
      freshKey(),
    );
    await expect(attempt).rejects.toMatchObject({ code: 'unavailable' });
    expect(line.broke()).toBe(true);
    expect(await database.query(`SELECT status FROM ${TABLE} WHERE id = $1`, [DEAD])).toEqual([{ status: 'failed' }]);
    await line.close();
  });

  it('says that nothing was changed when the connection breaks before the commit', async () => {
    const body = await request('requeue', DEAD);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query(`SELECT 1 FROM ${TABLE} WHERE id = $1 FOR UPDATE`, [DEAD]);
    const attempt = intervene(depsFor(open.outbox), ANNA, 'sample', body, freshKey());
    attempt.catch(() => undefined);
    for (let tries = 0; tries < 1_000; tries += 1) {
      const killed = await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name LIKE 'outbox-console/operator%'`,
      );
      if (killed.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await expect(attempt).rejects.toMatchObject({ code: 'unavailable' });
    await blocker.query('ROLLBACK');
    await blocker.end();
    expect(await database.query(`SELECT status FROM ${TABLE} WHERE id = $1`, [DEAD])).toEqual([{ status: 'failed' }]);
    expect(await database.query('SELECT count(*)::int AS n FROM outbox_console.intervention')).toEqual([{ n: 0 }]);
  });
});

describe('a key that is taken meanwhile', () => {
  const database = useTestDatabase((db) => createSample(db, publishedAt));
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, publishedAt);
  });
  afterAll(() => open.close());

  it('is already_exists, and the other rows still move', async () => {
    const page = await listEvents(open.outbox, { state: ['dead'] }, { limit: 10 });
    await database.query(`UPDATE outbox_events SET dedup_key = 'd5' WHERE dedup_key = 'd3'`);
    const result = await intervene(
      depsFor(open.outbox),
      ANNA,
      'sample',
      { operation: 'requeue', events: page.events.map(({ id, version }) => ({ id, version })), reason: 'broker is back' },
      freshKey(),
    );
    expect(result).toMatchObject({
      outcome: 'partly',
      changed: ['00000000-0000-4000-8000-000000000006'],
      skipped: [{ id: '00000000-0000-4000-8000-000000000005', code: 'already_exists' }],
    });
    expect(await database.query('SELECT id FROM outbox_dead')).toEqual([{ id: '00000000-0000-4000-8000-000000000005' }]);
  });
});
