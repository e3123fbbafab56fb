import { randomUUID } from 'node:crypto';
import { expect, test } from './fixtures';
import { escrowRow, insertEscrow, insertEscrows, intervene, seen, seenTogether } from './support/rows';

test('fifty calls with one key are one change and one answer', async ({ api, database }) => {
  const { id } = await insertEscrow(database('escrow'));
  const event = await seen(api, 'escrow', id);
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => intervene(api, 'escrow', { operation: 'archive', events: [event], key })),
  );
  const finished = answers.filter(({ status }) => status === 200);
  expect(finished.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status !== 200).map(({ status, body }) => `${String(status)} ${body.code ?? ''}`)).toEqual(
    Array.from({ length: 50 - finished.length }, () => '409 in_progress'),
  );
  expect(new Set(finished.map(({ body }) => body.interventionId)).size).toBe(1);
  expect(finished.every(({ body }) => body.outcome === 'applied' && body.changed?.join() === id)).toBe(true);
  const records = await database('escrow').query('SELECT 1 FROM outbox_console.intervention_event WHERE event_id = $1', [id]);
  expect(records).toHaveLength(1);
  expect(await escrowRow(database('escrow'), id)).toBeNull();
});

test('a key with another body is refused, and somebody else’s same key is another key', async ({
  api,
  database,
  sessions,
  world,
  playwright,
}) => {
  const [first, second] = await insertEscrows(database('escrow'), 2);
  if (!first || !second) throw new Error('two rows were wanted');
  const key = randomUUID();
  const one = await seen(api, 'escrow', first.id);
  const two = await seen(api, 'escrow', second.id);
  expect((await intervene(api, 'escrow', { operation: 'archive', events: [one], key })).status).toBe(200);
  expect(await intervene(api, 'escrow', { operation: 'archive', events: [two], key })).toMatchObject({
    status: 422,
    body: { code: 'key_reused' },
  });
  const { cookies } = await sessions('approver');
  const colleague = await playwright.request.newContext({ baseURL: world.url, storageState: { cookies, origins: [] } });
  const theirs = await intervene(colleague, 'escrow', { operation: 'archive', events: [two], key, headers: { origin: world.url } });
  expect(theirs).toMatchObject({ status: 200, body: { outcome: 'applied', changed: [second.id] } });
  await colleague.dispose();
});

test('a row that moved since it was read is left alone, and the answer says so', async ({ api, database }) => {
  const escrow = database('escrow');
  const { id } = await insertEscrow(escrow);
  const event = await seen(api, 'escrow', id);
  // Failed, retried and failed again: the state is the same, the row is not.
  await escrow.query(`UPDATE p2p.transaction_outbox SET retry_count = 6, last_attempt_time = now() WHERE id = $1`, [id]);
  const before = await escrowRow(escrow, id);
  const answer = await intervene(api, 'escrow', { operation: 'requeue', events: [event] });
  expect(answer).toMatchObject({ status: 200, body: { outcome: 'none', changed: [], skipped: [{ id, code: 'changed_since_seen' }] } });
  expect(await escrowRow(escrow, id)).toEqual(before);
});

test('one locked row among 200 does not fail the other 199', async ({ api, database }) => {
  const escrow = database('escrow');
  const error = `story: two hundred ${randomUUID()}`;
  const rows = await insertEscrows(escrow, 200, { error });
  const events = await seenTogether(api, error);
  expect(events).toHaveLength(200);
  const locked = rows[100]?.id ?? '';
  const holder = await escrow.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM p2p.transaction_outbox WHERE id = $1 FOR UPDATE', [locked]);
    const { status, body } = await intervene(api, 'escrow', { operation: 'archive', events });
    expect(status).toBe(200);
    expect(body.outcome).toBe('partly');
    expect(body.changed).toHaveLength(199);
    expect(body.skipped).toMatchObject([{ id: locked, code: 'locked' }]);
  } finally {
    await holder.query('ROLLBACK');
    await holder.end();
  }
});

test('archive and restore give back every column, and the audit shows before and after', async ({ api, database }) => {
  const escrow = database('escrow');
  const { id } = await insertEscrow(escrow);
  const before = await escrowRow(escrow, id);
  const archived = await intervene(api, 'escrow', {
    operation: 'archive',
    events: [await seen(api, 'escrow', id)],
    reason: 'story: put aside',
  });
  expect(archived.body.outcome).toBe('applied');
  expect(await escrowRow(escrow, id)).toBeNull();
  const inArchive = await seen(api, 'escrow', id);
  expect(inArchive.state).toBe('archived');
  const restored = await intervene(api, 'escrow', { operation: 'restore', events: [inArchive], reason: 'story: back again' });
  expect(restored.body.outcome).toBe('applied');
  expect(await escrowRow(escrow, id)).toEqual(before);
  await expect
    .poll(async () => {
      const { entries } = (await (await api.get(`/api/v1/audit?outbox=escrow&event=${id}`)).json()) as {
        entries: { operation: string; reason: string; outcome: string; actor: string; before: unknown; after: unknown }[];
      };
      return entries.map(({ operation, reason, outcome, before: was, after: is }) => ({
        operation,
        reason,
        outcome,
        was: was !== null,
        is: is !== null,
      }));
    })
    .toEqual([
      expect.objectContaining({ operation: 'restore', reason: 'story: back again', outcome: 'applied' }),
      expect.objectContaining({ operation: 'archive', reason: 'story: put aside', outcome: 'applied', was: true }),
    ]);
});

test('retry is exactly one more attempt; requeue starts over and is delivered once', async ({ api, database, sink }) => {
  const escrow = database('escrow');
  const { id } = await insertEscrow(escrow);
  await sink.setFault({ outbox: 'escrow', eventId: id, mode: 'refuse' });
  expect((await intervene(api, 'escrow', { operation: 'retry', events: [await seen(api, 'escrow', id)] })).body.outcome).toBe('applied');
  await expect.poll(async () => (await escrowRow(escrow, id))?.retry_count).toBe(6);
  await expect.poll(async () => (await escrowRow(escrow, id))?.status).toBe('failed');
  await sink.setFault({ outbox: 'escrow', eventId: id, mode: 'none' });
  expect(await sink.deliveries('escrow', id)).toEqual([]);
  expect((await intervene(api, 'escrow', { operation: 'requeue', events: [await seen(api, 'escrow', id)] })).body.outcome).toBe('applied');
  await expect.poll(async () => (await escrowRow(escrow, id))?.status).toBe('processed');
  expect((await escrowRow(escrow, id))?.retry_count).toBe(1);
  expect(await sink.deliveries('escrow', id)).toHaveLength(1);
});
