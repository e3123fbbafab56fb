/** What an operator saw may look the same again and be another matter: only the records tell. On both engines. */
import { freezeEvents } from '@/fixtures/batches';
import { proofFacts } from '@/lib/outbox/proof/proof-facts';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mapping } from '@/fixtures/mapping';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { decodeVersion, encodeVersion } from '@/lib/outbox/rows/version';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import { openProven, useTestDatabaseOf, type ProvenOutbox } from '@/scripts/testing/outbox';
import { applyOperation } from './apply';
import { intervene } from './intervene';
import { operationOf, previewIntervention } from './preview';
import { ANNA, BEN, depsFor, freshKey } from '@/fixtures/interventions';

const START_OVER = { status: { value: 'NEW' }, tries: { value: 0 }, note: { value: null } };
const shape = mapping({
  engines: ['postgres', 'mysql'],
  table: 'jobs',
  columns: { id: 'id', type: 'kind', payload: 'body', createdAt: 'made_at', attempts: 'tries', error: 'note' },
  states: [
    { state: 'published', when: { column: 'status', equals: 'SENT' } },
    { state: 'dead', when: { column: 'status', equals: 'FAILED' } },
    { state: 'retrying', when: { all: [{ column: 'status', equals: 'NEW' }, { column: 'tries', above: 0 }] } },
    { state: 'pending', when: { column: 'status', equals: 'NEW' } },
  ],
  operations: {
    requeue: [
      { from: ['dead'], version: 'exact', set: START_OVER },
      { from: ['retrying'], version: 'stable', set: START_OVER },
    ],
  },
  archive: { from: ['dead', 'pending', 'retrying'] },
}); // prettier-ignore

const RECORDS = { postgres: 'outbox_console.intervention', mysql: 'outbox_console_intervention' };
const ID = 'job-1';

/** Somebody else's connection with a transaction open. */
async function openTransaction(engine: EngineKey, url: string): Promise<{ query(text: string): Promise<unknown>; end(): Promise<void> }> {
  if (engine === 'postgres') {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    return client;
  }
  const connection = await mysql.createConnection({ uri: url });
  await connection.query('BEGIN');
  return connection;
}

describe.each(ENGINE_KEYS)('what was seen on %s', (engine) => {
  const long = engine === 'postgres' ? 'text' : 'varchar(200)';
  const database = useTestDatabaseOf(engine, async ({ query }) => {
    await query(`CREATE TABLE jobs (id varchar(80) PRIMARY KEY, kind ${long} NOT NULL, body ${long} NOT NULL, made_at timestamp NOT NULL,
      status varchar(10) NOT NULL, tries int NOT NULL, note ${long})`);
  });
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, shape, { inline: true });
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    await database.query('DELETE FROM jobs');
    await database.query(`INSERT INTO jobs VALUES ('${ID}', 'mail', '{}', '2026-01-01 00:00:00', 'FAILED', 3, 'node down')`);
  });

  const row = async () => (await database.query<{ status: string; tries: number }>('SELECT status, tries FROM jobs'))[0];
  /** What the relay does when an attempt fails; at the third it gives up. */
  const fails = (tries: number) =>
    database.query(`UPDATE jobs SET tries = ${tries}, note = 'node down', status = '${tries < 3 ? 'NEW' : 'FAILED'}'`);
  const seen = async () => ({ id: ID, version: (await getEvent(open.outbox, ID))?.event.version ?? '' });
  const act = async (operation: string, event: { id: string; version: string }, actor = ANNA) =>
    intervene(depsFor(open.outbox, open.known), actor, 'sample', { operation, events: [event], reason: 'node is back' }, freshKey());
  const acted = async (operation: string, event: { id: string; version: string }, actor = ANNA) => {
    const { outcome, skipped } = await act(operation, event, actor);
    return skipped[0]?.code ?? outcome;
  };

  it('dead is not what is retrying since somebody requeued it', async () => {
    const stale = await seen();
    expect(await acted('requeue', stale, BEN)).toBe('applied');
    await fails(1);
    expect(await acted('requeue', stale)).toBe('changed_since_seen');
    expect((await previewIntervention(open.outbox, { operation: 'requeue', events: [stale] })).rows).toMatchObject([
      { allowed: false, code: 'changed_since_seen' },
    ]);
    expect(await row()).toEqual({ status: 'NEW', tries: 1 });
    expect(await acted('requeue', await seen())).toBe('applied');
  });

  it('retrying is not what is retrying since somebody requeued it', async () => {
    await fails(2);
    const stale = await seen();
    expect(await acted('requeue', stale, BEN)).toBe('applied');
    await fails(1);
    expect(await acted('requeue', stale)).toBe('changed_since_seen');
    // Another attempt alone changes nothing that a retrying event is compared by.
    const fresh = await seen();
    await fails(2);
    expect(await acted('requeue', fresh)).toBe('applied');
  });

  it('dead is not what is dead again with equal values', async () => {
    const stale = await seen();
    expect(await acted('requeue', stale, BEN)).toBe('applied');
    await fails(3);
    const [then, now] = [decodeVersion(stale.version), decodeVersion((await seen()).version)];
    if (engine === 'mysql') expect(now).toEqual({ ...then, touched: (then?.touched ?? 0) + 1 });
    expect(await acted('requeue', stale)).toBe('changed_since_seen');
    expect(await row()).toEqual({ status: 'FAILED', tries: 3 });
  });

  it('as possible is not, once a proof that this process has not seen refuses it', async () => {
    const known = { ...open.known, decided: { passed: true, refused: ['requeue'], facts: proofFacts(open.outbox) } };
    const request = { operation: 'requeue', events: [await seen()], reason: 'node is back' };
    expect(await intervene(depsFor(open.outbox, known), ANNA, 'sample', request, freshKey())).toMatchObject({
      outcome: 'none',
      skipped: [{ code: 'not_supported', detail: { because: 'failed_its_proof' } }],
    });
  });

  it('pending is not what was taken out and put back', async () => {
    await database.query(`UPDATE jobs SET status = 'NEW', tries = 1`);
    const stale = await seen();
    expect(await acted('archive', stale, BEN)).toBe('applied');
    const archived = await seen();
    expect(await acted('restore', archived, BEN)).toBe('applied');
    expect(await acted('archive', stale)).toBe('changed_since_seen');
    expect(await acted('archive', await seen(), BEN)).toBe('applied');
    expect(await acted('restore', archived)).toBe('changed_since_seen');
    expect(await row()).toBeUndefined();
  });

  it('is told by a list that was read before too, and the whole of it', async () => {
    const { events } = await freezeEvents(open.outbox, { state: ['dead'] }, null);
    expect(await acted('requeue', await seen(), BEN)).toBe('applied');
    await fails(3);
    expect(events.map(({ id }) => id)).toEqual([ID]);
    expect(await acted('requeue', events[0] ?? { id: ID, version: '' })).toBe('changed_since_seen');
  });

  it('cannot be made up: another state or count, or a version of the form there was before', async () => {
    await fails(2);
    const { version } = await seen();
    const real = decodeVersion(version);
    if (real === null) throw new Error('no version');
    const forged = [
      { ...real, touched: (real.touched ?? 0) + 1 },
      { ...real, touched: null },
      { ...real, state: 'dead' as const },
      { ...real, state: 'unmapped' as const },
    ].map(encodeVersion);
    for (const other of [...forged, `m.${real.exact}.${real.stable}`])
      expect(await acted('requeue', { id: ID, version: other }), other).toBe('changed_since_seen');
    expect(await acted('requeue', { id: ID, version })).toBe('applied');
  });

  it('is looked at again after waiting for the lock', async () => {
    await fails(2);
    const version = decodeVersion((await seen()).version);
    if (version === null) throw new Error('no version');
    // Somebody else requeues and the relay fails again, all committed while we wait: the row passes every test it is put to itself.
    const other = await openTransaction(engine, database.url);
    const quote = engine === 'postgres' ? '"' : '`';
    await other.query(`UPDATE jobs SET tries = 0, note = NULL`);
    await other.query(`UPDATE jobs SET tries = 2, note = 'node down'`);
    const intervention = freshKey();
    await other.query(`INSERT INTO ${RECORDS[engine]} (id, outbox, actor_id, actor_name, actor_role, ${quote}key${quote}, request_hash, operation, reason)
      VALUES ('${intervention}', 'sample', 'x', 'x', 'operator', '${intervention}', 'x', 'requeue', 'x')`);
    await other.query(`INSERT INTO ${RECORDS[engine]}_event (intervention_id, position, event_id) VALUES ('${intervention}', 0, '${ID}')`);
    await other.query(`UPDATE ${RECORDS[engine]} SET outcome = 'applied' WHERE id = '${intervention}'`);
    const author = { interventionId: freshKey(), actorName: 'anna', reason: 'node is back' };
    const waiting = open.outbox.database.write?.(
      (db) => applyOperation({ outbox: open.outbox, db, operation: operationOf('requeue'), author }, [{ id: ID, version }]),
      { lockMs: 20_000, statementMs: 30_000 },
    );
    await expect
      .poll(
        () =>
          database.query(
            engine === 'postgres'
              ? `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
              : `SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'`,
          ),
        // InnoDB tells the same again to whoever asks within a tenth of a second.
        { timeout: 6_000, interval: 200 },
      )
      .toHaveLength(1);
    await other.query('COMMIT');
    await other.end();
    expect(await waiting).toMatchObject([{ event_id: ID, code: 'changed_since_seen' }]);
    expect(await row()).toEqual({ status: 'NEW', tries: 2 });
  });
});
