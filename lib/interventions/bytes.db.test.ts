/** A table whose id, key, type, state and error are bytes is read, searched and changed by what they hold. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { proofFacts } from '@/lib/outbox/proof/proof-facts';
import { recordTables } from '@/lib/outbox/companions';
import { bindOutbox } from '@/lib/outbox/bind';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { neighboursOf } from '@/lib/outbox/lists/neighbours';
import type { Outbox } from '@/lib/outbox/outbox';
import type { KnownProof } from '@/lib/outbox/proof/proven';
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { presentContent } from '@/lib/outbox/masking/mask';
import { contentOf } from '@/lib/outbox/rows/event-content';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { defineShape } from '@/lib/shape/define';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { intervene } from './intervene';

const SHAPE = defineShape({
  key: 'held',
  label: 'held',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'parcels',
  columns: {
    id: 'id',
    type: 'kind',
    aggregateId: 'order_key',
    aggregateType: 'about',
    createdAt: 'made_at',
    attempts: 'tries',
    lockedBy: 'owner',
    error: 'problem',
    payload: 'body',
  },
  bytes: {
    id: 'uuid',
    order_key: 'text',
    about: 'text',
    kind: 'text',
    status: 'text',
    owner: 'text',
    problem: 'text',
    reason: 'text',
    body: 'text',
  },
  dead: { table: 'parcels_failed', columns: { id: 'msg_id', error: 'reason' } },
  states: [
    { state: 'published', when: { column: 'status', equals: 'done', ignoreCase: true } },
    { state: 'processing', when: { column: 'owner', isEmpty: false } },
    { state: 'retrying', when: { column: 'status', in: ['재시도', 'RETRY'] } },
    { state: 'pending', when: { column: 'status', equals: 'NEW' } },
  ],
  operations: {
    retry: [{ from: ['retrying'], version: 'exact', set: { status: { value: 'NEW' }, owner: { value: '' } } }],
    requeue: [
      { from: ['dead'], version: 'exact', moveTo: 'main', set: { status: { value: 'NEW' }, tries: { value: 0 }, owner: { value: '' } } },
    ],
  },
  archive: { from: ['pending', 'dead'] },
});

const uuid = (nth: number): string => `5f0c1f1e-0b7b-4a7e-9c9d-0000000000${10 + nth}`;
const [FRESH, TRIED, HELD, OUT, ODD, DEAD] = [1, 2, 3, 4, 5, 6].map(uuid) as [string, string, string, string, string, string];

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const postgres = engine === 'postgres';
  const [id, bytes, key] = postgres ? ['bytea', 'bytea', 'bytea'] : ['binary(16)', 'blob', 'varbinary(80)'];
  const hex = (digits: string): string => (postgres ? `'\\x${digits}'` : `x'${digits}'`);
  const held = (text: string): string => hex(Buffer.from(text).toString('hex'));
  const named = (text: string): string => hex(text.replaceAll('-', ''));
  const columns = `kind ${key} NOT NULL, order_key ${key} NOT NULL, about ${key} NOT NULL, made_at timestamp NOT NULL, tries int NOT NULL, body ${bytes} NOT NULL`;
  const database = useTestDatabaseOf(engine, async (db) => {
    await db.query(
      `CREATE TABLE parcels (id ${id} PRIMARY KEY, ${columns}, status ${key} NOT NULL, owner ${key} NOT NULL, problem ${bytes})`,
    );
    await db.query('CREATE INDEX parcels_key ON parcels (order_key)');
    await db.query(`CREATE TABLE parcels_failed (msg_id ${id} PRIMARY KEY, ${columns}, reason ${bytes})`);
  });
  let open: OpenOutbox;
  let outbox: Outbox;
  let known: KnownProof;
  beforeAll(async () => {
    open = await openSample(database, SHAPE);
    known = { switched: { on: true, facts: proofFacts(open.outbox) }, decided: null };
    outbox = await bindOutbox(open.outbox.settings, open.outbox.database, known);
  });
  afterAll(() => open.close());
  beforeEach(async () => {
    for (const table of ['parcels', 'parcels_failed']) await database.query(`DELETE FROM ${table}`);
    const row = (nth: number, name: string): string =>
      `${named(name)}, ${held(nth === 5 ? 'order.paid' : 'Order.Paid')}, ${nth === 5 ? hex('ff') : held('주문-1')}, ${held('order')}, '2026-01-01 00:00:0${nth}', ${nth}, ${held('{"sum":"5"}')}`;
    const rows = [
      [FRESH, 'NEW', '', null],
      [TRIED, '재시도', '', 'Zeitüberschreitung'],
      [HELD, 'NEW', 'worker-1', null],
      [OUT, 'Done', '', null],
      [ODD, 'lost', '', null],
    ] as const;
    for (const [index, [name, status, owner, problem]] of rows.entries())
      await database.query(
        `INSERT INTO parcels VALUES (${row(index + 1, name)}, ${held(status)}, ${held(owner)}, ${problem === null ? 'NULL' : held(problem)})`,
      );
    await database.query(`INSERT INTO parcels_failed VALUES (${row(6, DEAD)}, ${held('mailbox full')})`);
  });
  const idsOf = async (filter: object): Promise<string[]> =>
    (await listEvents(outbox, filter, { limit: 50 })).events.map((event) => event.id).sort();
  const act = async (operation: string, name: string) => {
    const events = [{ id: name, version: (await getEvent(outbox, name))?.event.version ?? '' }];
    return intervene(depsFor(outbox, known), ANNA, 'sample', { operation, events, reason: 'by what bytes hold' }, freshKey());
  };
  const lineOf = async (interventionId: string) => {
    const { engine: server } = open.outbox.database;
    const { schema, table } = recordTables(server).events;
    const quoted = (names: (string | null)[]): string =>
      names.flatMap((name) => (name === null ? [] : [server.quote.identifier(name)])).join('.');
    const [line] = await database.query<Record<string, unknown>>(
      `SELECT * FROM ${quoted([schema, table])} WHERE intervention_id = '${interventionId}'`,
    );
    const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);
    return { ...line, before: parsed(line?.before), after: parsed(line?.after) };
  };

  it('shows the texts and UUIDs they are, and a state for each that is compared', async () => {
    expect(outbox.whyReadOnly).toBeNull();
    const { events } = await listEvents(outbox, { order: 'oldest' }, { limit: 50 });
    expect(events.map((event) => [event.id, event.state, event.type, event.aggregateId, event.error])).toEqual([
      [FRESH, 'pending', 'Order.Paid', '주문-1', null],
      [TRIED, 'retrying', 'Order.Paid', '주문-1', 'Zeitüberschreitung'],
      [HELD, 'processing', 'Order.Paid', '주문-1', null],
      [OUT, 'published', 'Order.Paid', '주문-1', null],
      [ODD, 'unmapped', 'order.paid', '\\xff', null],
      [DEAD, 'dead', 'Order.Paid', '주문-1', 'mailbox full'],
    ]);
    const stored = await getEvent(outbox, TRIED);
    if (stored === null) throw new Error('The row is there');
    const { payload } = await contentOf(outbox, stored, false);
    expect(presentContent(outbox, 'payload', payload, true)).toMatchObject({ text: '{"sum":"5"}', format: 'json' });
    expect(capabilitiesOf(await open.rebind({ amount: { value: 'payload.sum' } })).fields.amount).toBe(true);
    expect((await getEvent(outbox, HELD))?.claim).toMatchObject({ lockedBy: 'worker-1' });
  });

  it('finds them by what is shown: id, key, type and error', async () => {
    expect(await idsOf({ q: TRIED.toUpperCase() })).toEqual([TRIED]);
    expect(await idsOf({ q: DEAD })).toEqual([DEAD]);
    expect(await idsOf({ aggregate: '주문-1' })).toEqual([FRESH, TRIED, HELD, OUT, DEAD]);
    expect(await idsOf({ q: '\\xff' })).toEqual([ODD]);
    expect(await idsOf({ type: ['order.paid'] })).toEqual([ODD]);
    expect(await idsOf({ error: 'überschreitung' })).toEqual([TRIED]);
    expect(await idsOf({ state: ['retrying'] })).toEqual([TRIED]);
    const event = (await getEvent(outbox, TRIED))?.event;
    if (event === undefined) throw new Error('The row is there');
    const { neighbours } = await neighboursOf(outbox, event);
    expect(neighbours.map((one) => one.event.id)).toEqual([FRESH, TRIED, HELD, OUT, DEAD]);
  });

  it('changes the row its id names, writes what is held, and records both as they are read', async () => {
    const result = await act('retry', TRIED);
    expect(result).toMatchObject({ outcome: 'applied', changed: [TRIED] });
    const line = await lineOf(result.interventionId);
    expect(line).toMatchObject({ event_id: TRIED, aggregate_id: '주문-1', event_type: 'Order.Paid' });
    expect(line.before).toMatchObject({ id: TRIED, status: '재시도', order_key: '주문-1' });
    expect(line.after).toMatchObject({ id: TRIED, status: 'NEW', order_key: '주문-1' });
    expect((await getEvent(outbox, TRIED))?.event.state).toBe('pending');
    expect(await act('retry', HELD)).toMatchObject({ changed: [], skipped: [{ id: HELD, code: 'being_processed' }] });
  });

  it('moves a dead row back, into the archive and out of it, under one id', async () => {
    expect(await act('archive', DEAD)).toMatchObject({ outcome: 'applied', changed: [DEAD] });
    expect((await getEvent(outbox, DEAD))?.event).toMatchObject({ id: DEAD, state: 'archived', aggregateId: '주문-1' });
    expect(await act('restore', DEAD)).toMatchObject({ outcome: 'applied', changed: [DEAD] });
    expect(await act('requeue', DEAD)).toMatchObject({ outcome: 'applied', changed: [DEAD] });
    expect((await getEvent(outbox, DEAD))?.event).toMatchObject({ id: DEAD, state: 'pending', type: 'Order.Paid' });
    expect(await act('archive', FRESH)).toMatchObject({ outcome: 'applied', changed: [FRESH] });
    expect(await act('restore', FRESH)).toMatchObject({ outcome: 'applied', changed: [FRESH] });
  });
});
