/** What stands below the fleet's lines: causes over all outboxes, read rarely, and who did what. */
import { uuidv7 } from 'uuidv7';
import { expect, it, onTestFinished, vi } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { unavailable } from '@/lib/shared/figures/measured';
import { insertAuditEntries, recordDeed } from '@/lib/store/audit';
import { putVerdictChanges } from '@/lib/store/verdict-spans';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { getConsole } from '../console';
import { readFleet } from './figures';
import { readNews } from './news';

const store = useTestDatabase();
const database = useTestDatabase(async (db) => {
  await createSample(db, escrowStatus, { rows: false });
  await db.query('CREATE TABLE p2p.plain (LIKE p2p.transaction_outbox INCLUDING ALL)');
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
    `databases: {d: {url: '${database.url}'}}\noutboxes: [{id: plain, database: d, table: p2p.plain, shape: escrow-status}, {id: escrow, database: d, table: p2p.transaction_outbox, shape: escrow-status, amount: {value: payload.amount, currency: payload.currency}}]\n`,
);

it('says why events died and what they are worth, to each role as it sees errors', async () => {
  const groups = async (role: 'operator' | 'viewer') =>
    (await readFleet(await contextOf(role))).news.groups.map(({ error, count }) => [error, count]);
  await expect.poll(() => groups('operator')).toEqual([['… refused swordfish', 2]]);
  await expect.poll(() => groups('viewer')).toEqual([['… refused …', 2]]);
  expect((await readFleet(await contextOf('viewer'))).news).toMatchObject({
    atStake: { sums: [{ amount: '19.50', currency: 'EUR' }], whole: true },
    searched: { complete: true, rows: 0, outboxes: 0, unread: 0 },
  });
});

it('does not say that nothing is dead where the dead cannot be counted', async () => {
  const context = await contextOf('viewer');
  const [entry] = (await context.console.snapshots.fleet()).entries.filter(({ outbox }) => outbox.id === 'plain');
  if (entry === undefined) throw new Error('an outbox that is not there');
  const { complete } = (await readNews(context, [entry], 300)).searched;
  const depth = { ...entry.summary.depth, dead: unavailable('external_relay') };
  const { searched } = await readNews(context, [{ ...entry, summary: { ...entry.summary, depth } }], 300);
  expect([complete, searched.complete]).toEqual([true, false]);
});

it('has the causes of a line that is old, and does not say that nothing else died', async () => {
  const context = await contextOf('operator');
  const { entries } = await context.console.snapshots.fleet();
  const old = entries.map((entry) => ({ ...entry, stale: { since: new Date().toISOString(), problem: 'timeout' as const } }));
  const news = () => readNews(context, old, 300);
  await expect.poll(news).toMatchObject({ groups: [{ outbox: 'escrow', count: 2 }], searched: { complete: false, unread: 0 } });
});

it('has at once the causes that were read before its tables were looked at again', async () => {
  const context = await contextOf('operator');
  const { snapshots, directory } = context.console;
  const { entries } = await snapshots.fleet();
  const known = { groups: [{ outbox: 'escrow', count: 2 }], searched: { unread: 0 } };
  await expect.poll(() => readNews(context, entries, 300)).toMatchObject(known);
  for (const id of directory.ids) {
    const before = await directory.get(id);
    directory.forget(id);
    expect(await directory.get(id)).not.toBe(before);
  }
  expect(await readNews(context, entries, 0)).toMatchObject(known);
  // Whoever comes much later is not told what was true then.
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 301_000);
  expect(await readNews(context, entries, 0)).toMatchObject({ groups: [], searched: { unread: 1 } });
});

it('says that only the newest of many dead events are counted; outboxes without amounts leave none out of what is at stake', async () => {
  await database.query(
    `INSERT INTO p2p.plain (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, error_message)
     SELECT gen_random_uuid(), n::text, 't', 'r', 'failed', '{}', 'refused' FROM generate_series(1, 1001) AS n`,
  );
  const news = async () => (await readFleet(await contextOf('viewer'))).news;
  await expect.poll(news, { timeout: 15_000 }).toMatchObject({
    groups: [{ outbox: 'plain', count: 1_000 }, { outbox: 'escrow' }],
    atStake: { whole: true },
    searched: { complete: false, rows: 1_000, outboxes: 0, unread: 0 },
  });
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
    // Whoever signed in since hides nothing.
    ...Array.from({ length: 60 }, () => ({
      ...line('', 'sign-in', 1),
      operation: 'login',
      outbox: null,
      action: null,
      interventionId: null,
    })),
  ]);
  const { actions } = await expect
    .poll(async () => (await readFleet(await contextOf('viewer'))).news, { timeout: 15_000 })
    .toMatchObject({ actions: [{}], changes: 'all' })
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

it('says that there is more than is shown, and that nothing is known while the store does not answer', async () => {
  const { store: own } = await getConsole();
  const at = new Date().toISOString();
  await own.db.transaction().execute(async (db) => {
    for (let n = 0; n < 13; n += 1)
      await recordDeed(db, { id: 'account:1', name: 'mina', role: 'admin' }, { operation: 'mark', reason: `release ${n}`, at });
  });
  const news = async () => (await readFleet(await contextOf('viewer'))).news;
  await expect.poll(news, { timeout: 15_000 }).toMatchObject({ changes: 'newest' });
  await store.query('ALTER TABLE audit_entry RENAME TO away');
  await expect.poll(news, { timeout: 15_000 }).toMatchObject({ changes: 'unread', actions: [], verdicts: [] });
});
