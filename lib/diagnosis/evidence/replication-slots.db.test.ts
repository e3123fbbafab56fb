/** What a reading says of a relay that reads the log: real slots, read and confirmed or not, seen by an ordinary reader. */
import { slotSight } from '@/lib/outbox/replication-slots/seen';
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import type { Outbox } from '@/lib/outbox/outbox';
import type { SlotHealth } from '@/lib/shared/figures/slot-health';
import type { Diagnosis } from '@/lib/shared/figures/verdicts';
import { settingsFor } from '@/scripts/testing/outbox';
import { useLogicalServer } from '@/scripts/testing/logical-server';
import { chooseMethod, sizeOf } from '@/lib/history/collector/method';
import { diagnose } from '../judge/diagnose';
import { metricInput, spanOf } from '@/lib/figures/span';
import { AGGREGATES, takeReading } from '@/lib/snapshots/readings';
import { planOf, readingStatement } from '@/lib/live/reading-sql';
import type { Reading } from '@/lib/live/reading';
import { summarise, type SummaryFigures } from '@/lib/figures/summarise';
import { shapeCalled } from '@/fixtures/outboxes';

const SHAPE = shapeCalled('debezium-outbox');
const MB = 1_048_576;

const server = useLogicalServer(async ({ query }) => {
  for (const statement of sampleOf(SHAPE).ddl.postgres ?? []) await query(statement);
  await query('CREATE TABLE noise (text text)');
  await query(
    `CREATE ROLE watcher LOGIN PASSWORD 'test'; GRANT SELECT ON outboxevent TO watcher; CREATE PUBLICATION out FOR TABLE outboxevent`,
  );
});
let reader: Database;
beforeAll(() => {
  reader = openDatabase({ id: 'test', url: server.urlFor('watcher') });
});
afterAll(() => reader.close());

const bound = (slot?: string): Promise<Outbox> =>
  bindOutbox(settingsFor(SHAPE, { parameters: slot === undefined ? {} : { extra: { slot } } }), reader);
const create = (name: string, plugin = 'pgoutput'): Promise<unknown> =>
  server.query('SELECT pg_create_logical_replication_slot($1, $2)', [name, plugin]);
/** Reads and confirms what there is, as a connector does that sends it at once. */
const confirm = (slot: string): Promise<unknown> =>
  server.query(
    `SELECT count(*) FROM pg_logical_slot_get_binary_changes($1, NULL, NULL, 'proto_version', '1', 'publication_names', 'out')`,
    [slot],
  );
/** Events written, and counted as such at once. */
async function write(rows: number): Promise<void> {
  await server.query(
    `INSERT INTO outboxevent (id, aggregatetype, aggregateid, type, payload)
      SELECT gen_random_uuid(), 'order', i::text, 'made', jsonb_build_object('n', repeat('x', 1000)) FROM generate_series(1, ${rows}) AS i`,
  );
  await server.query('SELECT pg_stat_force_next_flush()');
}
const other = (rows: number): Promise<unknown> =>
  server.query(`INSERT INTO noise SELECT repeat('y', 1000) FROM generate_series(1, ${rows})`);

const figuresOf = (reading: Reading): SummaryFigures => summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
const healthOf = async (slot?: string): Promise<SlotHealth | null> => figuresOf(await takeReading(await bound(slot), null)).slot;

/** Readings that were really taken one after the other, told as if there had been more time between them. */
function watch(outbox: Outbox) {
  const looks: Reading[] = [];
  let later = 0;
  return {
    async look(afterSeconds = 0, times = 1): Promise<Diagnosis> {
      for (let at = 0; at < times; at += 1) {
        later += afterSeconds * 1_000;
        const reading = await takeReading(outbox, null);
        looks.push({ ...reading, asOf: new Date(Date.parse(reading.asOf) + later).toISOString() });
      }
      const reading = looks.at(-1) as Reading;
      const now = Date.parse(reading.asOf);
      const figures = figuresOf(reading);
      return diagnose({ reading, figures, failure: null, previous: looks.slice(0, -1), history: null, now });
    },
  };
}

beforeEach(async () => {
  await server.query(`SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active`);
});

describe('which slot it is', () => {
  test('the only one a connector could read is taken for it, and that is said', async () => {
    await create('debezium');
    await create('tests', 'test_decoding');
    expect(await healthOf()).toMatchObject({ known: 'exact', name: 'debezium', assumed: true, state: 'inactive' });
    expect(await healthOf('debezium')).toMatchObject({ name: 'debezium', assumed: false });
    expect(await healthOf('tests')).toMatchObject({ name: 'tests', assumed: false });
  });

  test('of two none is, until the configuration says which; without any there is nothing to be known', async () => {
    expect(await healthOf()).toMatchObject({ known: 'unavailable', why: 'slot_not_found', name: null, lagBytes: null });
    await create('one');
    await create('two');
    expect(await healthOf()).toMatchObject({ known: 'unavailable', why: 'several_slots', state: null, lagBytes: null, heldBytes: null });
    expect(await healthOf('two')).toMatchObject({ known: 'exact', name: 'two' });
    expect(await healthOf('three')).toMatchObject({ known: 'exact', name: 'three', state: 'missing', lagBytes: null });
  });

  test('a slot of another database, or of one connection, is none of this outbox', async () => {
    await server.query(`SELECT pg_create_logical_replication_slot('brief', 'pgoutput', true)`);
    expect(await healthOf()).toMatchObject({ why: 'slot_not_found' });
    await server.query(`SELECT pg_drop_replication_slot('brief')`);
  });
});

describe('what an ordinary reader is told', () => {
  test('whether anybody is connected, how much is not confirmed and how much is kept, in bytes of the log', async () => {
    await create('debezium');
    const connector = await server.connect('debezium', 'out');
    const before = await healthOf();
    expect(before).toMatchObject({ state: 'active', inactiveSince: null, walStatus: 'reserved', safeBytes: null });
    await write(2_000);
    const after = await healthOf();
    expect((after?.lagBytes ?? 0) - (before?.lagBytes ?? 0)).toBeGreaterThan(2_000 * 100);
    expect(after?.heldBytes).toBeGreaterThanOrEqual(after?.lagBytes ?? Infinity);
    await connector.end();
    const gone = await healthOf();
    expect(gone).toMatchObject({ state: 'inactive' });
    expect(Math.abs(Date.now() - Date.parse(gone?.inactiveSince ?? ''))).toBeLessThan(30_000);
    await confirm('debezium');
    expect((await healthOf())?.lagBytes).toBeLessThan(100_000);
  });

  test('that it may not look, known when the outbox is bound: no reading fails of it', async () => {
    await create('debezium');
    for (const right of ['SELECT ON pg_catalog.pg_replication_slots', 'EXECUTE ON FUNCTION pg_catalog.pg_current_wal_lsn()']) {
      await server.query(`REVOKE ${right} FROM PUBLIC`);
      const outbox = await bound();
      expect(await slotSight(outbox)).toEqual({ wanted: null, why: 'slots_hidden' });
      const reading = await takeReading(outbox, null);
      expect(figuresOf(reading).slot).toMatchObject({ known: 'unavailable', why: 'slots_hidden', lagBytes: null });
      const { verdict, evidence } = await watch(outbox).look();
      expect([verdict, evidence]).toEqual(['healthy', [{ code: 'slot_unknown', values: { why: 'slots_hidden' } }]]);
      await server.query(`GRANT ${right} TO PUBLIC`);
    }
    expect(await slotSight(await bound())).toEqual({ wanted: null, why: null });
  });

  test('a right nobody thought of is missed when the outbox is bound, too: it is tried once as every reading will', async () => {
    await create('debezium');
    await server.query('REVOKE EXECUTE ON FUNCTION pg_catalog.pg_stat_get_tuples_inserted(oid) FROM PUBLIC');
    expect(await slotSight(await bound())).toEqual({ wanted: null, why: 'slots_hidden' });
    await server.query('GRANT EXECUTE ON FUNCTION pg_catalog.pg_stat_get_tuples_inserted(oid) TO PUBLIC');
    expect(await slotSight(await bound())).toEqual({ wanted: null, why: null });
  });

  test('without reading a row, and other outboxes are asked nothing of it', async () => {
    await create('debezium');
    await write(1);
    expect((await takeReading(await bound(), null)).rowsRead).toBe(0);
    await server.query('CREATE SCHEMA plain');
    for (const statement of sampleOf(shapeCalled('published-at')).ddl.postgres ?? [])
      await server.query(`SET search_path TO plain; ${statement}; RESET search_path`);
    await server.query(
      'GRANT USAGE ON SCHEMA plain TO watcher; GRANT SELECT ON ALL TABLES IN SCHEMA plain TO watcher; ALTER ROLE watcher SET search_path = public, plain',
    );
    const fresh = openDatabase({ id: 'test', url: server.urlFor('watcher') });
    const outbox = await bindOutbox(
      settingsFor(shapeCalled('published-at'), { table: { schema: 'plain', table: 'outbox_events' } }),
      fresh,
    );
    const compiled = await fresh.read((db) => Promise.resolve(readingStatement(outbox, planOf(outbox, null, AGGREGATES)).compile(db).sql));
    await fresh.close();
    expect(await slotSight(outbox)).toBeNull();
    expect(compiled).not.toContain('replication');
    const own = await bound();
    const plan = planOf(own, null, AGGREGATES, { slots: await slotSight(own) });
    const slots = await reader.read((db) => Promise.resolve(readingStatement(own, plan).compile(db).sql));
    expect(slots).toContain('pg_replication_slots');
  });
});

test('what is created is counted by the server; of what is published nobody knows, whatever is cleared away', async () => {
  const outbox = await bound();
  const choice = await reader.read(async (db) => chooseMethod(outbox, await sizeOf(db, outbox)));
  expect(choice).toEqual({ method: 'statistics', access: null, sees: true, advice: null });
  const { throughput, latency } = figuresOf(await takeReading(outbox, null));
  expect(throughput).toMatchObject({ publishedPerMinute: null, why: 'external_relay' });
  expect(latency).toMatchObject({ p95Ms: null, known: 'unavailable' });
});

describe('healthy', () => {
  /** A connector that has confirmed all there is and stays connected. */
  const caughtUp = async () => {
    await create('debezium');
    await write(3);
    await confirm('debezium');
    return { connector: await server.connect('debezium', 'out'), watched: watch(await bound()) };
  };

  test('an idle slot that is read says so, however long it is idle and whatever others write', async () => {
    const { connector, watched } = await caughtUp();
    await watched.look(30, 10);
    await other(5_000);
    const { verdict, evidence } = await watched.look(30, 20);
    expect(verdict).toBe('healthy');
    expect(evidence.map(({ code }) => code)).toEqual(['slot_read', 'slot_lag', 'slot_assumed']);
    await connector.end();
  });

  test('a transaction that was rolled back is counted and is no event: nobody has to confirm it', async () => {
    const { connector, watched } = await caughtUp();
    await watched.look(25, 2);
    const inserted = (): Promise<{ n: number }[]> =>
      server.query(`SELECT n_tup_ins::int AS n FROM pg_stat_user_tables WHERE relname = 'outboxevent'`);
    const [before] = await inserted();
    await server.query(
      `BEGIN; INSERT INTO outboxevent (id, aggregatetype, aggregateid, type, payload) SELECT gen_random_uuid(), 'order', '1', 'made', '{}'; ROLLBACK`,
    );
    await server.query('SELECT pg_stat_force_next_flush()');
    expect(await inserted()).toEqual([{ n: (before?.n ?? 0) + 1 }]);
    expect((await watched.look(25, 20)).verdict).toBe('healthy');
    // Nor is it one when others have written more since.
    await other(500);
    expect((await watched.look(25, 20)).verdict).toBe('healthy');
    await connector.end();
  });

  test('one that is read in rounds is not connected most of the time, and is not stopped', async () => {
    await create('debezium');
    const watched = watch(await bound('debezium'));
    for (let round = 0; round < 8; round += 1) {
      await write(20);
      await watched.look(25);
      await confirm('debezium');
      expect((await watched.look(25)).verdict).toBe('healthy');
    }
  });

  test('nobody connected while nothing is written is no stop: nothing waits', async () => {
    await create('debezium');
    await write(3);
    await confirm('debezium');
    const watched = watch(await bound());
    const { verdict, evidence } = await watched.look(30, 25);
    expect(verdict).toBe('healthy');
    expect(evidence[0]).toMatchObject({ code: 'slot_unread', values: { slot: 'debezium' } });
  });

  test('a restart within the minute, events written meanwhile, is no stop', async () => {
    await create('debezium');
    await confirm('debezium');
    const watched = watch(await bound());
    await watched.look(0);
    await write(50);
    expect((await watched.look(10, 5)).verdict).toBe('healthy');
  });
});

describe('stopped', () => {
  test('nobody has been connected for a minute, and events were written: said with how many and how much log', async () => {
    await create('debezium');
    const connector = await server.connect('debezium', 'out');
    const watched = watch(await bound());
    expect((await watched.look(0)).verdict).toBe('healthy');
    await connector.end();
    await watched.look(25);
    await write(50);
    const found = await watched.look(25, 2);
    expect(found).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [
        { code: 'slot_events', values: { count: 50 } },
        { code: 'slot_lag' },
        { code: 'slot_held' },
        { code: 'slot_unread', values: { slot: 'debezium' } },
      ],
    });
    expect(Math.abs(Date.parse(found.since ?? '') - Date.now())).toBeLessThan(30_000);
    // The connector is back: the verdict goes with the first look that sees it.
    const back = await server.connect('debezium', 'out');
    expect((await watched.look(5)).verdict).toBe('healthy');
    await back.end();
  });

  test('the log alone tells later: nobody saw who wrote what', async () => {
    await create('debezium');
    await other(200);
    const watched = watch(await bound());
    expect((await watched.look(50, 5)).verdict).toBe('healthy');
    const found = await watched.look(50, 3);
    expect(found).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [{ code: 'slot_lag' }, { code: 'slot_held' }, { code: 'slot_unread' }],
    });
  });

  test('somebody is connected and confirms nothing of what was written five minutes ago', async () => {
    await create('debezium');
    const connector = await server.connect('debezium', 'out');
    const watched = watch(await bound());
    await watched.look(25, 2);
    await write(50);
    expect((await watched.look(25, 12)).verdict).toBe('healthy');
    const found = await watched.look(25, 2);
    expect(found).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [{ code: 'slot_silent', values: { slot: 'debezium' } }, { code: 'slot_events', values: { count: 50 } }, {}, {}],
    });
    await connector.end();
    await confirm('debezium');
    expect((await watched.look(5)).verdict).toBe('healthy');
  });

  test('the slot was dropped: after a minute, by its name', async () => {
    await create('debezium');
    const watched = watch(await bound());
    await write(1);
    await watched.look(0);
    await server.query(`SELECT pg_drop_replication_slot('debezium')`);
    expect((await watched.look(25, 3)).verdict).toBe('healthy');
    expect(await watched.look(25)).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [{ code: 'slot_missing', values: { slot: 'debezium' } }],
    });
    const named = watch(await bound('orders'));
    expect(await named.look(25, 4)).toMatchObject({
      verdict: 'relay_stopped',
      since: null,
      evidence: [{ code: 'slot_missing', values: { slot: 'orders' } }],
    });
  });
});

describe('log held back', () => {
  test('first the server is about to take it away, then the slot is lost', async () => {
    await create('debezium');
    await server.query(`ALTER SYSTEM SET max_slot_wal_keep_size = '8MB'`);
    await server.query('SELECT pg_reload_conf()');
    const outbox = await bound();
    await expect.poll(async () => (await healthOf())?.safeBytes ?? null).not.toBeNull();
    expect((await healthOf())?.safeBytes).toBeLessThanOrEqual(64 * MB);
    const watched = watch(outbox);
    const seen: (string | null)[] = [];
    for (let round = 0; round < 60 && !seen.includes('unreserved'); round += 1) {
      await other(4_000);
      await server.query('SELECT pg_switch_wal()');
      seen.push((await healthOf())?.walStatus ?? null);
    }
    expect((await watched.look(0)).verdict).toBe('healthy');
    expect(await watched.look(10)).toMatchObject({
      verdict: 'log_held',
      evidence: [{ code: 'slot_holds', values: { slot: 'debezium' } }, { code: 'slot_endangered' }, { code: 'slot_lag' }],
    });
    await server.query('CHECKPOINT');
    await watched.look(10);
    expect(await healthOf()).toMatchObject({ known: 'exact', state: 'lost', walStatus: 'lost', lagBytes: null, heldBytes: null });
    expect(await watched.look(10)).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [{ code: 'slot_lost', values: { slot: 'debezium' } }],
    });
    // A connector that began anew has another slot: the lost one is not its.
    await create('debezium2');
    expect(await healthOf()).toMatchObject({ name: 'debezium2', assumed: true, state: 'inactive' });
  });
});
