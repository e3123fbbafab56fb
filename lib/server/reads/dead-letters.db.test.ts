/** The dead letters of all outboxes: one that cannot be read says why and takes nothing from the others. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { useTestDatabase } from '@/scripts/testing/database';
import { overCountingLine, type CountingLine } from '@/scripts/testing/counting-line';
import { createSample } from '@/scripts/testing/outbox';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { readGroups } from './causes';
import { readAllDeadLetters, readDeadLetters, readDeadLettersSnapshot } from './dead-letters';

const store = useTestDatabase();
const database = useTestDatabase(async (db) => {
  await createSample(db, escrowStatus);
  await db.query(
    'CREATE TABLE p2p.moved (LIKE p2p.transaction_outbox INCLUDING ALL); CREATE TABLE p2p.other (LIKE p2p.transaction_outbox INCLUDING ALL); CREATE TABLE p2p.empty (LIKE p2p.transaction_outbox INCLUDING ALL)',
  );
});
const OUTBOXES = { kept: 'transaction_outbox', moved: 'moved', other: 'other', empty: 'empty' };
const outboxes = Object.entries(OUTBOXES).map(
  ([id, table]) =>
    `{id: ${id}, database: d, table: p2p.${table}, shape: escrow-status, amount: {value: payload.amount, currency: payload.currency}, mask: [payload.secret]}`,
);
let line: CountingLine;
beforeAll(async () => {
  line = await overCountingLine(database);
});
afterAll(() => line.close());
useTestConsole(
  () => store.url,
  () => `databases: {d: {url: '${line.url}'}}\noutboxes: [${outboxes.join(', ')}]\n`,
);

it('a table that is gone and one that does not fit are told as such', async () => {
  const context = await contextOf('viewer');
  await database.query('ALTER TABLE p2p.moved RENAME TO elsewhere; ALTER TABLE p2p.other DROP COLUMN payload');
  const all = await readAllDeadLetters(context, { order: 'newest', limit: 5 });
  expect(all.map(({ outbox: { id, whyReadOnly }, dead, problem }) => [id, dead.why ?? 'read', problem, whyReadOnly])).toEqual([
    ['kept', 'read', null, 'no_operator_url'],
    ['moved', 'table_missing', 'unavailable', 'table_missing'],
    ['other', 'source_unusable', 'unavailable', 'source_unusable'],
    ['empty', 'read', null, 'no_operator_url'],
  ]);
});

it('how many of the newest the causes count, and whether that is all of them', async () => {
  const context = await contextOf('viewer');
  const searched = async () => (await readDeadLetters(context, 'kept', { order: 'newest', limit: 5 })).searched;
  const before = await searched();
  expect(before).toEqual({ rows: expect.any(Number) as number, complete: true });
  await database.query(`INSERT INTO p2p.transaction_outbox
      (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
    SELECT gen_random_uuid(), 'dead-' || n, 'order_complete', 'order-' || n, 'failed', '{}', now(), now(), 5, 'node down'
    FROM generate_series(1, 1000) AS n`);
  await expect.poll(searched).toEqual({ rows: 1_000, complete: false });
});

const at = (day: string) => expect.stringMatching(`^${day}T00:00:00`) as string;
const die = (id: number, error: string, diedAt: string, payload: object = {}) =>
  database.query(
    `INSERT INTO p2p.empty (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, last_attempt_time, retry_count, error_message)
     VALUES ($1, $5, 'order_complete', $5, 'failed', $2, '2026-01-01', $3, 5, $4)`,
    [String(id).padStart(8, '0') + '-0000-4000-8000-000000000000', payload, diedAt, error, `order-${id}`],
  );

it('causes of all outboxes are one list with the last death and the sum; an outbox without dead letters is not read', async () => {
  const context = await contextOf('operator');
  line.heard();
  const rows = async () =>
    (await readDeadLettersSnapshot(context, null, new URLSearchParams())).groups.filter(({ outbox }) => outbox === 'empty');
  expect(await rows()).toEqual([]);
  const ofEmpty = () => line.heard().filter((text) => /"p2p"\."empty"/.test(text) && /limit (11|1000)\b/.test(text));
  expect(ofEmpty()).toEqual([]);
  await die(1, 'node-1.internal:50051 refused', '2026-01-02T00:00:00Z', { amount: '12.50', currency: 'EUR' });
  await die(2, 'node-2.internal:50051 refused', '2026-01-03T00:00:00Z', { amount: '7', currency: 'EUR' });
  await die(3, 'out of memory', '2026-01-01T00:00:00Z', { amount: '3', currency: 'EUR', rest: randomBytes(20_000).toString('hex') });
  const expected = [
    {
      error: '… refused',
      count: 2,
      firstSeenAt: at('2026-01-02'),
      lastSeenAt: at('2026-01-03'),
      sums: [{ amount: '19.50', currency: 'EUR' }],
    },
    { error: 'out of memory', count: 1, sums: [], summed: 0 },
  ];
  await expect.poll(rows, { timeout: 20_000 }).toMatchObject(expected);
  expect(ofEmpty().length).toBeGreaterThan(0);
});

it('while as many are dead, the screen of all outboxes reads their causes once for everybody', async () => {
  const causesRead = () => line.heard().filter((text) => /"p2p"\."empty"/.test(text) && /limit 1000\b/.test(text)).length;
  const read = async () => (await readDeadLettersSnapshot(await contextOf('operator'), null, new URLSearchParams())).groups;
  await read();
  line.heard();
  await read();
  await read();
  expect(causesRead()).toBe(0);
  await die(4, 'disk full', '2026-01-04T00:00:00Z');
  await expect.poll(async () => (await read()).map(({ error }) => error)).toContain('disk full');
  // Its own screen reads them each time.
  line.heard();
  await readDeadLettersSnapshot(await contextOf('operator'), 'empty', new URLSearchParams());
  expect(causesRead()).toBe(1);
});

it('scripts get the same, each cause under an id that stays', async () => {
  const answer = await readGroups(await contextOf('viewer'), 'empty');
  expect(answer).toMatchObject({ searched: { rows: 4, complete: true }, more: 0 });
  const refused = answer.groups.find(({ template }) => template === '… refused');
  expect(refused).toMatchObject({ type: 'order_complete', count: 2, known: 'exact', sums: { EUR: '19.50' }, summed: 2 });
  await die(5, 'node-7.internal:50051 refused', '2026-01-05T00:00:00Z');
  const after = (await readGroups(await contextOf('viewer'), 'empty')).groups.find(({ id }) => id === refused?.id);
  expect(after).toMatchObject({ count: 3, lastSeenAt: at('2026-01-05'), summed: 2 });
  // Of the newest, or of all once the collector has counted them.
  const known = expect.stringMatching(/^(capped|exact)$/) as string;
  expect((await readGroups(await contextOf('viewer'), 'kept')).groups[0]).toMatchObject({ count: 1_000, known });
});
