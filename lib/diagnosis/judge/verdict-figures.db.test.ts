/** What verdicts read out of real rows: traces of a relay that tries, rows that a policy hides, keys that are passed. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { takeReading } from '@/lib/snapshots/readings';
import type { Reading } from '@/lib/live/reading';
import { countedDirectory, sampleTables, shapeCalled, testOutbox, type CountedDirectory } from '@/fixtures/outboxes';

const READER = 'verdict_reader';
const OUTBOXES = [testOutbox(shapeCalled('courier-status'), 'courier'), testOutbox(shapeCalled('published-at'), 'kafka')];

const database = useTestDatabase(async ({ query }) => {
  for (const { shape, id } of OUTBOXES) await query(sampleTables(shape, id).join(';\n'));
  await query(`drop role if exists ${READER}`);
  await query(`create role ${READER} login password 'reads'`);
  await query(`grant usage on schema courier, kafka to ${READER}; grant select on all tables in schema courier, kafka to ${READER}`);
});
let directory: CountedDirectory;
const read = async (outbox: string): Promise<Reading> =>
  takeReading(await directory.get(outbox), new Date(Date.now() - 60_000).toISOString());
const figures = async (outbox: string, rule: string): Promise<Record<string, unknown>> => (await read(outbox)).figures[rule] ?? {};

beforeAll(() => {
  directory = countedDirectory(database.urlFor(READER, 'reads'), OUTBOXES);
});
afterAll(async () => {
  await directory.close();
  await database.query(`drop owned by ${READER}`);
  await database.query(`drop role ${READER}`);
});
beforeEach(() => database.query('truncate courier.outbox, kafka.outbox_events, kafka.outbox_dead'));

/** One event per transaction, created so many seconds ago. */
const wait = async (...secondsAgo: number[]): Promise<void> => {
  for (const seconds of secondsAgo)
    await database.query(
      `insert into courier.outbox (id, event_type, payload, created_at) values (gen_random_uuid(), 't', '{}', now() at time zone 'UTC' - $1 * interval '1 s')`,
      [seconds],
    );
};

/** When the waiting events were created, oldest first; milliseconds since the epoch. */
const createdMs = async (): Promise<number[]> => {
  const rows = await database.query<{ ms: number }>(
    `select floor(extract(epoch from created_at at time zone 'UTC') * 1000)::float8 as ms from courier.outbox order by created_at`,
  );
  return rows.map(({ ms }) => ms);
};

/** A round of the courier's relay that fails: the batch is locked and everything rolled back. */
async function failedRound(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  await client.query(`select id from courier.outbox where status = 'PENDING' order by created_at limit 10 for update skip locked`);
  await client.query('rollback');
  await client.end();
}

describe('a relay that tries', () => {
  test('untouched rows tell of nobody', async () => {
    await wait(30, 20, 10);
    expect(await figures('courier', 'relay_stopped')).toMatchObject({ due: 3, touch: 0, touchedAfter: null });
  });

  test('a lock that was rolled back is seen, and which events were there by then', async () => {
    await wait(30, 20);
    await failedRound();
    await wait(10);
    const first = await figures('courier', 'relay_stopped');
    expect(Date.parse(String(first.touchedAfter))).toBe((await createdMs())[1]);
    expect(first.headTouchedAfter).toBe(first.touchedAfter);
    await failedRound();
    const second = await figures('courier', 'relay_stopped');
    expect(Number(second.touch)).toBeGreaterThan(Number(first.touch));
    expect(Date.parse(String(second.touchedAfter))).toBe((await createdMs())[2]);
  });
});

describe('row-level security', () => {
  const hidden = async (): Promise<unknown> => (await figures('courier', 'cannot_see')).hidden;

  test('hides rows, unless a policy lets this role read all of them', async () => {
    expect(await hidden()).toBe(false);
    await database.query('alter table courier.outbox enable row level security');
    try {
      expect(await hidden()).toBe(true);
      await database.query(`create policy part on courier.outbox for select to ${READER} using (event_type = 't')`);
      expect(await hidden()).toBe(true);
      await database.query(`create policy whole on courier.outbox for select to ${READER} using (true)`);
      expect(await hidden()).toBe(false);
      await database.query(`create policy narrow on courier.outbox as restrictive for select to ${READER} using (event_type = 't')`);
      expect(await hidden()).toBe(true);
      expect((await figures('kafka', 'cannot_see')).hidden).toBe(false);
    } finally {
      await database.query('drop policy if exists part on courier.outbox; drop policy if exists whole on courier.outbox');
      await database.query('drop policy if exists narrow on courier.outbox; alter table courier.outbox disable row level security');
    }
  });
});

test('of the key with most events that were passed: how many, its first, and what else goes out', async () => {
  await database.query(`insert into kafka.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, attempt, published_at)
    select gen_random_uuid(), 'order', key, type, '{}', now() - ago * interval '1 s', attempt, case when out then now() end
    from (values ('a', 'paid', 40, 2, false), ('a', 'sent', 30, 0, false), ('b', 'paid', 35, 0, false), ('c', 'paid', 5, 0, true), ('d', 'paid', 2, 0, false))
      as row (key, type, ago, attempt, out)`);
  const { key } = await figures('kafka', 'blocked_on_key');
  expect(key).toMatchObject({ key: 'a', count: 2, waiting: 3, out: null, head: { failing: true, type: 'paid', attempts: 2 } });
  expect(await figures('kafka', 'starved')).toMatchObject({ ahead: 1 });
  expect(await figures('kafka', 'no_handler')).toMatchObject({
    types: [
      { type: 'paid', count: 2 },
      { type: 'sent', count: 1 },
    ],
  });
});

test('never tried although what was created five minutes later is out', async () => {
  await database.query(`insert into kafka.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, attempt, published_at)
    select gen_random_uuid(), 'order', ago::text, 'paid', '{}', now() - ago * interval '1 s', attempt, case when out then now() end
    from (values (800, 0, false), (700, 0, false), (600, 3, false), (500, 0, true), (380, 0, false), (90, 0, true), (2, 0, false)) as row (ago, attempt, out)`);
  const { left, firstLeft } = await figures('kafka', 'falling_behind');
  expect([left, Math.round((Date.now() - Date.parse(String(firstLeft))) / 100_000)]).toEqual([2, 8]);
});

describe('the cause of deaths', () => {
  const die = (count: number, error: string): Promise<unknown> =>
    database.query(
      `insert into kafka.outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, created_at, attempt, last_error, died_at)
       select gen_random_uuid(), 'order', 'a', 'paid', '{}', now() - interval '1 hour', 10, replace($1, '%', gen_random_uuid()::text), now() - n * interval '1 s'
       from generate_series(1, $2) as n`,
      [error, count],
    );

  test('is the largest one, however its ids differ, with its share', async () => {
    await die(40, 'account % is closed');
    await die(33, 'broker said no to %');
    await die(100, 'wallet % not found');
    expect(await figures('kafka', 'dead_growing')).toMatchObject({
      recent: 173,
      cause: { type: 'paid', error: 'wallet … not found', count: 100, of: 173 },
    });
  });

  test('is looked for among the newest', async () => {
    await die(500, 'wallet % not found');
    const { deadDetailed, figures: given } = await read('kafka');
    expect([deadDetailed, given.dead_growing?.cause]).toEqual([false, { type: 'paid', error: 'wallet … not found', count: 400, of: 400 }]);
  });
});
