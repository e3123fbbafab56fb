/** The figures of outboxes on MySQL and MariaDB as a screen gets them: read there, computed by the store. */
import { sampleOf } from '@/fixtures/samples';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { numbersTo, useTestMysql } from '@/scripts/testing/mysql';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { NotComputed, type Compute } from '@/lib/live/take-reading';
import { createSnapshots, type Snapshots } from './snapshots';
import { countedDirectory, shapeCalled, testOutbox, useCompute, type CountedDirectory } from '@/fixtures/outboxes';

const worker = shapeCalled('worker-status');
const records = shapeCalled('namastack-outbox-record');
const OUTBOXES = [
  testOutbox(worker, 'x', { id: 'worker', table: 'outbox_events' }),
  testOutbox(records, 'x', { id: 'records', table: 'outbox_record' }),
];

const database = useTestMysql();
const computed = useCompute();
let directory: CountedDirectory;
let snapshots: Snapshots;
let clock: number;
let failures: [string, unknown][];
let compute: Compute;

const create = (url = database.url): void => {
  directory = countedDirectory(url, OUTBOXES);
  snapshots = createSnapshots(directory, {
    compute: (statement) => compute(statement),
    now: () => clock,
    onFailure: (outbox, error) => failures.push([outbox, error]),
  });
};

beforeAll(async () => {
  for (const shape of [worker, records]) for (const statement of sampleOf(shape).ddl.mysql ?? []) await database.query(statement);
});
beforeEach(async () => {
  for (const table of ['outbox_events', 'outbox_record']) await database.query(`truncate ${table}`);
  clock = Math.floor(Date.now() / 5_000) * 5_000;
  failures = [];
  compute = computed;
  create();
});
afterEach(() => directory.close());

const ago = (seconds: number): string => `utc_timestamp() - interval ${seconds} second`;
const insert = (status: string, seconds: number, count = 1, more = 'null'): Promise<unknown> =>
  database.query(
    `insert into outbox_events (event_type, payload, status, created_at, processed_at, updated_at)
      select 'order.paid', '{}', '${status}', ${ago(seconds)}, ${more}, ${ago(seconds)} from ${numbersTo(count, 'numbered')}`,
  );
const record = (id: string, seconds: number, failed: number): Promise<unknown> =>
  database.query(
    `insert into outbox_record (id, status, record_key, record_type, payload, created_at, next_retry_at, failure_count, failure_reason, partition_no, handler_id)
      values ('${id}', 'NEW', 'order-1', 'paid', '{}', ${ago(seconds)}, ${ago(seconds)}, ${failed}, if(${failed} > 0, 'no such customer', null), 1, 'h')`,
  );

test('fifty and more at once cost one reading', async () => {
  const asks = [
    () => snapshots.summary('worker', '15m'),
    () => snapshots.series('worker', { window: '30d' }, 'paid'),
    () => snapshots.outbox('worker', '1h'),
  ];
  const answers = await Promise.all(Array.from({ length: 17 }, () => asks.map((ask) => ask())).flat());
  expect(directory.readings()).toBe(1);
  expect(new Set(answers.map((answer) => answer.asOf)).size).toBe(1);
});

test('depth, the oldest and what was published last', async () => {
  await insert('PENDING', 40, 3);
  await insert('PROCESSED', 30, 5, ago(2));
  const { depth, oldestPendingAt, lastPublishedAt, byType } = await snapshots.summary('worker', '1h');
  expect(depth.waiting).toEqual({ count: 3, known: 'exact' });
  expect(byType).toMatchObject([{ type: 'order.paid', waiting: 3 }]);
  const agoSeconds = (at: string | null): number => (Date.now() - Date.parse(at ?? '')) / 1_000;
  const [oldest, last] = [agoSeconds(oldestPendingAt), agoSeconds(lastPublishedAt)];
  expect(oldest - last).toBeCloseTo(38, -1);
  expect(last).toBeGreaterThanOrEqual(2);
  expect(last).toBeLessThan(25);
});

describe('verdicts', () => {
  const verdict = async (id: string) => (await snapshots.summary(id, '1h')).diagnosis;

  test('the relay stopped: events are due, none goes out, nobody tries', async () => {
    await insert('PROCESSED', 500, 20, ago(499));
    await insert('PENDING', 400, 9);
    expect(await verdict('worker')).toMatchObject({
      verdict: 'relay_stopped',
      evidence: [{ code: 'nothing_published' }, { code: 'events_due', values: { count: 9 } }, {}],
    });
  });

  test('an event that a relay took long ago is stuck', async () => {
    await insert('PROCESSED', 5, 20, ago(2));
    await insert('PROCESSING', 900);
    expect(await verdict('worker')).toMatchObject({
      verdict: 'stuck_processing',
      evidence: [{ code: 'stuck_events', values: { count: 1 } }, {}, {}],
    });
  });

  test('a poison row, told by its counter: transactions leave no trace on rows here', async () => {
    await database.query(
      `insert into outbox_record (id, status, record_key, record_type, payload, created_at, completed_at, failure_count, partition_no, handler_id)
        values ('out', 'COMPLETED', 'order-1', 'paid', '{}', ${ago(500)}, ${ago(499)}, 0, 1, 'h')`,
    );
    await record('poison', 400, 3);
    for (const id of ['a', 'b', 'c']) await record(id, 390, 0);
    expect(await verdict('records')).toMatchObject({ verdict: 'relay_stopped' });
    // A script's questions are answered by readings of their own.
    clock += 5_000;
    await new Promise((resolve) => setTimeout(resolve, 20));
    await database.query(`update outbox_record set failure_count = 4 where id = 'poison'`);
    const [oldest] = (await listEvents(await directory.get('records'), { order: 'oldest', state: ['retrying'] }, { limit: 1 })).events;
    expect(await verdict('records')).toMatchObject({
      verdict: 'poison_row',
      evidence: [
        { code: 'blocking_row', values: { headAt: oldest?.createdAt, type: oldest?.type, others: 3, atLeast: 'no' } },
        { code: 'events_behind', values: { count: 3 } },
        { code: 'taken_again' },
        { code: 'row_error', values: { error: 'no such customer' } },
      ],
    });
  });

  test('a table that is gone: the database answers, and that is what is said', async () => {
    await snapshots.summary('worker', '1h');
    await database.query('rename table outbox_events to gone');
    clock += 5_000;
    try {
      expect(await verdict('worker')).toMatchObject({
        verdict: 'cannot_see',
        evidence: [{ code: 'table_missing' }, { code: 'last_seen' }],
      });
      expect((await snapshots.summary('worker', '1h')).depth.waiting.why).toBe('table_missing');
    } finally {
      await database.query('rename table gone to outbox_events');
    }
  });

  test('a user who may not read the table', async () => {
    await database.query(`create user if not exists blind identified by 'reads'`);
    await database.query(`grant select on ${database.name}.outbox_record to blind`);
    await directory.close();
    create(database.urlFor('blind', 'reads'));
    const { depth, diagnosis } = await snapshots.summary('worker', '1h');
    // Such a server shows nobody a table that they have no right to.
    expect(diagnosis).toMatchObject({ verdict: 'cannot_see', evidence: [{ code: 'table_missing' }, {}] });
    expect(depth.dead).toEqual({ count: null, known: 'unavailable', why: 'table_missing' });
    expect((await verdict('records')).verdict).toBe('healthy');
    await database.query('drop user blind');
  });
});

describe('a store that does not compute', () => {
  const away: Compute = () => Promise.reject(new NotComputed('the store is away'));

  test('from the beginning: no figure, and the reason is the store, not the table', async () => {
    await insert('PENDING', 40, 3);
    compute = away;
    const { depth, latency, diagnosis } = await snapshots.summary('worker', '1h');
    expect(depth.pending).toEqual({ count: null, known: 'unavailable', why: 'store_down' });
    expect(latency).toMatchObject({ known: 'unavailable', why: 'store_down' });
    expect(diagnosis).toMatchObject({ verdict: 'cannot_see', evidence: [{ code: 'store_away' }, { code: 'never_seen' }] });
    const { outbox, series, stale } = await snapshots.outbox('worker', '1h');
    // The table was seen: nothing about it is in doubt.
    expect(outbox.whyReadOnly).not.toBe('table_missing');
    expect(series.why.waiting).toBe('store_down');
    expect(stale?.problem).toBe('store');
    expect(failures).toEqual([['worker', new NotComputed('the store is away')]]);
  });

  test('later: the last figures stay on the screen and say so; back again, they are new ones', async () => {
    await insert('PENDING', 40, 3);
    const good = await snapshots.outbox('worker', '1h');
    compute = away;
    clock += 5_000;
    const later = await snapshots.outbox('worker', '1h');
    expect(later).toMatchObject({
      asOf: good.asOf,
      stale: { since: good.asOf, problem: 'store' },
      summary: { depth: { pending: { count: 3 } } },
    });
    compute = computed;
    await insert('PENDING', 40, 1);
    clock += 5_000;
    expect(await snapshots.outbox('worker', '1h')).toMatchObject({ stale: null, summary: { depth: { pending: { count: 4 } } } });
  });
});
