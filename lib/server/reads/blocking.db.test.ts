/** The event that nothing gets past: its page and its row in the list say how many others it blocks, by the verdict's own count. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { courierStatus } from '@/lib/shape/catalog/courier-status';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import { readDoctor } from './doctor';
import { readEventDetail } from './event';
import { readEventsSnapshot } from './events';

const store = useTestDatabase();
const database = useTestDatabase(async (db) => {
  await createSample(db, courierStatus);
  await db.query('create table twins (like outbox including all); truncate outbox');
});
const outboxes = ['outbox', 'twins'].map((id) => `{id: ${id}, database: d, table: ${id}, shape: courier-status}`);
useTestConsole(
  () => store.url,
  () => `databases: {d: {url: '${database.url}'}}\noutboxes: [${outboxes.join(', ')}]\n`,
);

/** Events of one type, created so many seconds ago. */
const wait = (table: string, ...secondsAgo: number[]): Promise<unknown> =>
  database.query(
    `insert into ${table} (id, event_type, payload, created_at)
     select gen_random_uuid(), 'paid', '{}', now() at time zone 'UTC' - ago * interval '1 s' from unnest($1::int[]) as ago`,
    [secondsAgo],
  );

/** A round of the relay: its batch is locked, the first event fails, and all is rolled back. */
async function failedRound(table: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  await client.query(`select id from ${table} where status = 'PENDING' order by created_at limit 10 for update skip locked`);
  await client.query('rollback');
  await client.end();
}

const list = async (outbox: string) => readEventsSnapshot(await contextOf('viewer'), outbox, 'order=oldest');
/** The verdict of the outbox's reading, which nothing waits for. */
const diagnosis = async (outbox: string) => (await contextOf('viewer')).console.snapshots.diagnosis(outbox);

it('is named in the list and on its page, and no other event is', async () => {
  await wait('outbox', 90, 40, 30, 3);
  await failedRound('outbox');
  await expect.poll(() => diagnosis('outbox'), { timeout: 20_000 }).toMatchObject({ verdict: 'poison_row' });
  const { page, blocking } = await list('outbox');
  const [head, next] = page?.events ?? [];
  expect(blocking).toEqual({ id: head?.id, others: { count: 3, known: 'exact' } });
  const blocks = async (id = '') => (await readEventDetail(await contextOf('viewer'), 'outbox', id)).blocks;
  expect([await blocks(head?.id), await blocks(next?.id)]).toEqual([{ count: 3, known: 'exact' }, null]);
});

it('is not named where another was created with it', async () => {
  await wait('twins', 90, 90, 30, 3);
  await failedRound('twins');
  await expect.poll(() => diagnosis('twins'), { timeout: 20_000 }).toMatchObject({ evidence: [{ code: 'blocking_row' }, {}, {}] });
  expect(await list('twins')).toMatchObject({ page: { events: [{}, {}, {}, {}] }, blocking: null });
});

it('is named by the doctor: the table is well, its outbox is not', async () => {
  const verdicts = async () => (await readDoctor(await contextOf('viewer'))).verdicts;
  await expect.poll(verdicts, { timeout: 20_000 }).toEqual({ outbox: 'poison_row', twins: 'poison_row' });
});
