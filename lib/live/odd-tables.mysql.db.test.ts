/** Figures of tables as people make them on MySQL and MariaDB: times to the second or in a zone, words of any case, bits, zero dates. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { type ShapeInput } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import { useTestMysql } from '@/scripts/testing/mysql';
import { metricInput, spanOf } from '@/lib/figures/span';
import { takeReading } from '@/lib/snapshots/readings';
import type { Reading } from './reading';
import { summarise } from '@/lib/figures/summarise';
import { testOutbox, useCompute, type TestOutbox } from '@/fixtures/outboxes';

const inline = (
  table: string,
  input: Omit<ShapeInput, 'key' | 'label' | 'origin' | 'engines' | 'table'>,
  parameters: TestOutbox['parameters'] = {},
): TestOutbox =>
  testOutbox(defineShape({ key: 'inline', label: table, origin: 'test', engines: ['mysql'], table, ...input }), 'x', {
    id: table,
    table,
    inline: true,
    parameters,
  });

const OUTBOXES = [
  inline(
    'seoul',
    {
      columns: { id: 'id', type: 'kind', createdAt: 'made', publishedAt: 'sent', attemptedAt: 'taken', attempts: 'tries', error: 'why' },
      states: [
        { state: 'published', when: { column: 'state', equals: 'done' } },
        { state: 'processing', when: { column: 'state', equals: 'busy' } },
        { state: 'dead', when: { column: 'state', equals: 'dead' } },
        { state: 'pending', when: { column: 'state', equals: 'new' } },
      ],
      parameters: { stuckAfter: 60 },
    },
    { timeZone: '+09:00' },
  ),
  inline('flags', {
    columns: { id: 'id', createdAt: 'made', attempts: 'tries' },
    states: [
      { state: 'published', when: { column: 'sent', isTrue: true } },
      { state: 'dead', when: { column: 'failed', isTrue: true } },
      { state: 'pending', when: { column: 'sent', isTrue: false } },
    ],
  }),
  inline('buried', {
    columns: {
      id: 'id',
      type: { column: 'body', path: ['type'] },
      createdAt: { column: 'body', path: ['at'] },
      publishedAt: { column: 'sent', time: 'epoch_s' },
      attempts: { column: 'body', path: ['tries'] },
    },
    states: [
      { state: 'published', when: { column: 'sent', above: 0 } },
      { state: 'pending', when: { column: 'sent', isNull: true } },
    ],
  }),
  inline('queue', { columns: { id: 'id' }, states: [{ state: 'pending', when: { column: 'id', isNull: false } }] }),
  inline('seen', {
    columns: { id: 'id', type: 'kind', createdAt: 'made' },
    states: [
      { state: 'published', when: { column: 'state', equals: 'done' } },
      { state: 'pending', when: { column: 'state', equals: 'new' } },
    ],
  }),
];

/** So many seconds ago on a wall clock in Seoul, to the second. */
const seoul = (seconds: number): string => `convert_tz(utc_timestamp() - interval ${seconds} second, '+00:00', '+09:00')`;

const TABLES = [
  // Words of any case, in a character set of their own, and a unique key that keeps both spellings of none.
  `create table seoul (id bigint unsigned primary key, kind varchar(40) character set latin1 collate latin1_swedish_ci, state varchar(10) collate utf8mb4_general_ci,
    made datetime, sent datetime, taken datetime, tries decimal(10,0), why mediumtext character set utf8mb4 collate utf8mb4_unicode_ci, key (state, made), key (sent))`,
  `insert into seoul values
    (1, 'Paid', 'new', ${seoul(50)}, null, null, 0, null), (2, 'paid', 'new', ${seoul(40)}, null, null, 0, null), (3, 'paid ', 'new', ${seoul(30)}, null, null, 2, null),
    (4, 'paid', 'NEW', ${seoul(900)}, null, null, 0, null), (5, 'größe', 'busy', ${seoul(400)}, null, ${seoul(300)}, 1, 'slow'),
    (6, 'paid', 'done', ${seoul(125)}, ${seoul(122)}, ${seoul(123)}, 1, null), (7, 'Paid', 'done', ${seoul(20)}, ${seoul(25)}, null, 1, null),
    (8, 'paid', 'done', ${seoul(700)}, null, null, 1, null), (9, 'paid', 'dead', ${seoul(500)}, null, ${seoul(60)}, 9, concat('refused', char(0), '한국 🚚')),
    (18446744073709551615, 'paid', 'done', null, ${seoul(10)}, null, 1, null)`,
  `create table flags (id int primary key, sent bit(1), failed tinyint(1) not null default 0, made timestamp(3) null, tries int)`,
  `insert into flags values (1, b'0', 0, '2026-01-01 00:00:00.5', 0), (2, b'0', 1, '2026-01-01 00:00:01', 7), (3, b'1', 0, '2026-01-01 00:00:02', 1), (4, null, 0, '2026-01-01 00:00:03', 1)`,
  `create table buried (id int primary key, body longtext, sent bigint)`,
  `insert into buried values (1, '{"type":"a","at":"2026-01-01T00:00:00Z","tries":"two"}', null), (2, '{"type":"b","at":"2026-02-30T00:00:00Z"}', 1700000000), (3, 'no json', 5)`,
  `create table queue (id int primary key)`,
  `insert into queue values (1), (2), (3), (4), (5), (6), (7)`,
  `create table times (id int primary key, state enum('new', 'done'), kind text, made datetime)`,
  `create view seen as select * from times`,
];

let directory: OutboxDirectory;
const database = useTestMysql(async ({ query, queryUnder }) => {
  for (const statement of TABLES) await query(statement);
  // Zero dates come from servers that took anything.
  await queryUnder(
    `sql_mode = ''`,
    `insert into times values
    (1, 'new', 'a', '0000-00-00 00:00:00'), (2, 'new', 'a', '2026-00-10 00:00:00'), (3, 'new', 'a', '2026-01-01 00:00:00'), (4, 'new', 'a', null), (5, 'done', 'a', '9999-12-31 23:59:59'), (6, '', 'a', '2026-01-02 00:00:00')`,
  );
});
const compute = useCompute();
beforeAll(() => {
  directory = createDirectory({ databases: [{ id: 'test', url: database.url }], outboxes: OUTBOXES });
});
afterAll(() => directory.close());

const read = async (id: string): Promise<Reading> =>
  takeReading(await directory.get(id), new Date(Date.now() - 3_600_000).toISOString(), compute);
const figuresOf = (reading: Reading) => summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
const agoSeconds = (at: unknown): number => (Date.now() - Date.parse(String(at))) / 1_000;

describe('a zone, seconds, and words of any case', () => {
  test('counts by state as they are written: another case is another word', async () => {
    const { depth } = figuresOf(await read('seoul'));
    expect([depth.pending.count, depth.processing.count, depth.dead.count]).toEqual([3, 1, 1]);
  });

  test('types that differ in case, or in a space at their end, are different types', async () => {
    const { types } = await read('seoul');
    expect(new Set(types.map(({ type }) => type))).toEqual(new Set(['Paid', 'paid', 'paid ', 'größe']));
  });

  test('times are instants, whatever the clock on the wall said', async () => {
    const reading = await read('seoul');
    const { oldestPendingAt, lastPublishedAt } = figuresOf(reading);
    for (const [at, seconds] of [
      [oldestPendingAt, 50],
      [lastPublishedAt, 10],
      [reading.figures.stuck_processing?.oldest, 300],
    ] as const) {
      expect(agoSeconds(at)).toBeGreaterThan(seconds - 1);
      expect(agoSeconds(at)).toBeLessThan(seconds + 20);
    }
    expect(reading.figures.stuck_processing).toMatchObject({ stuck: 1, type: 'größe' });
  });

  test('latencies are of rows that have both times; one that lies before its creation counts as nothing', async () => {
    const { tail } = await read('seoul');
    const cells = [...tail.values()].flatMap((series) => [series.get('*')]);
    expect(cells.reduce((sum, cell) => sum + (cell?.published ?? 0), 0)).toBe(3);
    expect(cells.reduce((sum, cell) => sum + (cell?.latencySumMs ?? 0), 0)).toBe(3_000);
    expect(cells.reduce((sum, cell) => sum + (cell?.negative ?? 0), 0)).toBe(1);
  });

  test('an error text with a character that PostgreSQL has not, and others of four bytes', async () => {
    expect((await read('seoul')).figures.dead_growing).toMatchObject({
      recent: 1,
      cause: { type: 'paid', error: 'refused\ufffd한국 🚚', count: 1, of: 1 },
    });
  });

  test('errors that differ in an id are one cause', async () => {
    const dead = (id: number, error: string): string =>
      `(${String(id)}, 'paid', 'dead', ${seoul(500)}, null, ${seoul(50)}, 9, concat('${error}', uuid()))`;
    const errors = Array.from({ length: 30 }, (_, n) => dead(100 + n, n < 12 ? 'account closed: ' : 'wallet not found: '));
    await database.query(`insert into seoul values ${errors.join()}`);
    try {
      expect((await read('seoul')).figures.dead_growing).toMatchObject({
        recent: 31,
        cause: { type: 'paid', error: 'wallet not found: …', count: 18, of: 31 },
      });
    } finally {
      await database.query('delete from seoul where id between 100 and 200');
    }
  });
});

test('bits and truth values tell states; NULL is neither', async () => {
  const { depth, oldestPendingAt } = figuresOf(await read('flags'));
  expect([depth.pending.count, depth.dead.count]).toEqual([1, 1]);
  expect(Date.parse(oldestPendingAt ?? '')).toBe(Date.parse('2026-01-01T00:00:00.5Z'));
});

test('times inside JSON and as numbers are computed with, a count that is no number is not', async () => {
  const { depth, byType, oldestPendingAt, lastPublishedAt } = figuresOf(await read('buried'));
  expect(depth.pending).toEqual({ count: 1, known: 'exact' });
  expect(byType).toMatchObject([{ type: 'a', waiting: 1, retries: null }]);
  expect(Date.parse(oldestPendingAt ?? '')).toBe(Date.parse('2026-01-01T00:00:00Z'));
  expect(Date.parse(lastPublishedAt ?? '')).toBe(1_700_000_000_000);
});

test('a table whose rows go when published: depth, and nothing made up', async () => {
  const { depth, latency, oldestPendingAt } = figuresOf(await read('queue'));
  expect(depth.waiting).toEqual({ count: 7, known: 'exact' });
  expect(latency).toMatchObject({ known: 'unavailable', why: 'no_created_at' });
  expect(oldestPendingAt).toBeNull();
});

test('a view over zero dates: what is no time is left out, the rows are counted', async () => {
  const reading = await read('seen');
  const { depth, oldestPendingAt } = figuresOf(reading);
  expect(depth.pending).toEqual({ count: 4, known: 'exact' });
  expect(oldestPendingAt).toBe('2026-01-01T00:00:00.000000Z');
});

test('each statement can be run again on the connection it was prepared on', async () => {
  for (let round = 0; round < 4; round += 1) for (const { id } of OUTBOXES) expect((await read(id)).reach.waiting).toBe('complete');
});
