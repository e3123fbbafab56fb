/** What stands below the fleet's lines: causes over all outboxes, read rarely, and who did what. */
import { uuidv7 } from 'uuidv7';
import { expect, it } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { insertAuditEntries } from '@/lib/store/audit';
import { putVerdictChanges } from '@/lib/store/verdict-spans';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { getConsole } from '../console';
import { readFleet } from './figures';

const store = useTestDatabase();
const database = useTestDatabase(async (db) => {
  await createSample(db, escrowStatus, { rows: false });
  for (const [n, amount] of ['12.50', '7'].entries())
    await db.query(
      `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, error_message)
       VALUES ($1, $2, 't', 'r', 'failed', $3, $4)`,
      [
        `00000000-0000-4000-8000-00000000000${n}`,
        `k${n}`,
        { amount, currency: 'EUR', password: 'swordfish' },
        `node-${n}.internal refused swordfish`,
      ],
    );
});
useTestConsole(
  () => store.url,
  () =>
    `databases: {d: {url: '${database.url}'}}\noutboxes: [{id: escrow, database: d, table: p2p.transaction_outbox, shape: escrow-status, amount: {value: payload.amount, currency: payload.currency}}]\n`,
);

it('says why events died and what they are worth, to each role as it sees errors', async () => {
  const groups = async (role: 'operator' | 'viewer') =>
    (await readFleet(await contextOf(role))).news.groups.map(({ error, count }) => [error, count]);
  await expect.poll(() => groups('operator')).toEqual([['… refused swordfish', 2]]);
  await expect.poll(() => groups('viewer')).toEqual([['… refused …', 2]]);
  expect((await readFleet(await contextOf('viewer'))).news.atStake).toEqual({ sums: [{ amount: '19.50', currency: 'EUR' }], whole: true });
});

it('names who acted in the last hour and why, the events of one decision together, and no value of a row', async () => {
  const { store: own } = await getConsole();
  const action = uuidv7();
  const line = (eventId: string, reason: string, minutesAgo: number, outcome: 'applied' | 'none' = 'applied') => ({
    id: uuidv7(),
    at: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
    actorId: 'account:1',
    actor: 'mina',
    role: 'operator',
    operation: 'retry',
    outbox: 'escrow',
    eventId,
    eventType: 't',
    aggregateId: 'r',
    reason,
    outcome,
    code: null,
    interventionId: uuidv7(),
    action,
    before: { error_message: 'swordfish' },
    after: null,
  });
  await insertAuditEntries(own.db, [
    line('1', 'again', 2),
    line('2', 'again', 2),
    line('3', 'again', 2, 'none'),
    { ...line('4', 'before', 90), action: null },
  ]);
  const { actions } = await expect
    .poll(async () => (await readFleet(await contextOf('viewer'))).news, { timeout: 15_000 })
    .toMatchObject({ actions: [{}] })
    .then(async () => (await readFleet(await contextOf('viewer'))).news);
  expect(actions).toMatchObject([{ actor: 'mina', reason: 'again', before: null, aggregateId: null, events: { changed: 2, left: 1 } }]);
});

it('tells which verdicts began or ended in the last hour, of configured outboxes', async () => {
  const { store: own } = await getConsole();
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  await own.db.transaction().execute(async (db) => {
    await putVerdictChanges(db, 'escrow', {
      begun: [
        { verdict: 'relay_stopped', at: ago(90) },
        { verdict: 'starved', at: ago(80) },
        { verdict: 'poison_row', at: ago(70) },
        { verdict: 'no_handler', at: ago(20) },
      ],
      ended: [],
    });
    await putVerdictChanges(db, 'escrow', {
      begun: [],
      ended: [
        { verdict: 'relay_stopped', at: ago(10) },
        { verdict: 'starved', at: ago(65) },
      ],
    });
    await putVerdictChanges(db, 'left-the-configuration', { begun: [{ verdict: 'starved', at: ago(5) }], ended: [] });
  });
  const told = async () =>
    (await readFleet(await contextOf('viewer'))).news.verdicts
      .filter(({ verdict }) => verdict !== 'dead_growing')
      .map(({ outbox, verdict, endedAt }) => [outbox, verdict, endedAt !== null]);
  await expect.poll(told, { timeout: 15_000 }).toEqual([
    ['escrow', 'relay_stopped', true],
    ['escrow', 'no_handler', false],
  ]);
});
