import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { type ShapeInput } from '@/lib/shape/shape';
import { defineShape } from '@/lib/shape/define';
import { useTestDatabase } from '@/scripts/testing/database';
import { takeReading } from '@/lib/snapshots/readings';
import { seriesInput } from '@/lib/figures/series';
import { metricInput, spanOf, type MetricInput } from '@/lib/figures/span';
import type { Reading } from './reading';
import { ALL_TYPES, emptyCell } from '@/lib/rollup/cell';
import { seriesOf } from '@/lib/figures/chart';
import { summarise } from '@/lib/figures/summarise';
import { progressOf, testOutbox } from '@/fixtures/outboxes';

const database = useTestDatabase();
let directory: OutboxDirectory;

const inline = (table: string, input: Omit<ShapeInput, 'key' | 'label' | 'origin' | 'engines' | 'table'>) =>
  testOutbox(defineShape({ key: 'inline', label: table, origin: 'test', engines: ['postgres'], table, ...input }), 'odd', {
    id: table,
    inline: true,
  });

const OUTBOXES = [
  /** Rows are there until they are published. */
  inline('queue', { columns: { id: 'id' }, states: [{ state: 'pending', when: { column: 'id', isNull: false } }] }),
  /** Times that are texts inside JSON or numbers, and a count that is no number. */
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
  /** An enum, a partition, a domain, infinite and missing times, a clock that is ahead, a published row without its time. */
  inline('times', {
    columns: { id: 'id', type: 'kind', createdAt: 'created', publishedAt: 'published', attempts: 'tries' },
    states: [
      { state: 'published', when: { column: 'state', equals: 'done' } },
      { state: 'dead', when: { column: 'state', equals: 'dead' } },
      { state: 'pending', when: { column: 'state', equals: 'new' } },
    ],
  }),
  /** A view over it. */
  inline('seen', {
    columns: { id: 'id', createdAt: 'created', publishedAt: 'published' },
    states: [
      { state: 'published', when: { column: 'state', equals: 'done' } },
      { state: 'pending', when: { not: { column: 'state', in: ['done', 'dead'] } } },
    ],
  }),
];

beforeAll(async () => {
  await database.query(`
    create schema odd; set search_path to odd;
    create table queue (id uuid primary key);
    insert into queue select gen_random_uuid() from generate_series(1, 7);
    create table buried (id int primary key, body jsonb, sent bigint);
    insert into buried values (1, '{"type": "a", "at": "2026-01-01T00:00:00Z", "tries": "x"}', null), (2, '{}', 1700000000);
    create type state as enum ('new', 'done', 'dead', 'odd');
    create domain moment as timestamptz;
    create table times (id bigint, state state, kind text, created moment, published timestamptz, tries numeric, primary key (id, state)) partition by list (state);
    create table times_new partition of times for values in ('new');
    create table times_rest partition of times default;
    create index on times (published);
    insert into times values
      (1, 'new', 'a', now() - interval '5 s', null, 0), (2, 'new', null, '-infinity', null, null), (3, 'new', 'a', null, null, 0),
      (4, 'done', 'a', now() - interval '10 min', now() - interval '9 min', 1), (5, 'done', 'b', now(), now() + interval '20 s', 3),
      (6, 'done', 'a', now() + interval '1 min', now() - interval '1 min', 1), (7, 'done', 'a', now() - interval '3 min', null, 1),
      (8, 'done', 'a', null, now() - interval '2 min', 1), (9, 'done', 'a', now() - interval '1 min', 'infinity', 1), (10, 'done', 'a', '0044-03-15 BC', now(), 1),
      (11, 'dead', 'a', now() - interval '2 min', null, 5), (12, 'odd', 'a', now(), null, 0);
    create view seen as select * from times;
    reset search_path`);
  directory = createDirectory({ databases: [{ id: 'test', url: database.url }], outboxes: OUTBOXES });
});
afterAll(() => directory.close());

/** A reading since an hour ago, which was watched without anything being published before. */
const read = async (id: string): Promise<Reading> => takeReading(await directory.get(id), new Date(Date.now() - 3_600_000).toISOString());
const headOf = (reading: Reading) => ({
  progress: progressOf(reading.foldedTo ?? ''),
  fromMinute: 0,
  slices: [],
  acted: null,
  open: new Map(),
});
function observed(reading: Reading): MetricInput {
  const watched = { series: ALL_TYPES, atMinute: 0, width: 60, cell: { ...emptyCell(), minutes: 60 }, provisional: false };
  return metricInput(reading, spanOf({ window: '1h' }, reading.asOf), headOf(reading), [watched]);
}
const figuresOf = (reading: Reading) => summarise(observed(reading), '1h');
const seriesIn = (reading: Reading) => seriesOf(seriesInput(observed(reading), ALL_TYPES, headOf(reading), []));

test('a table whose rows go when published: depth, and nothing made up', async () => {
  const reading = await read('queue');
  const { depth, latency, throughput, oldestPendingAt, byType, retries } = summarise(
    metricInput(reading, spanOf({ window: '1h' }, reading.asOf)),
    '1h',
  );
  expect(depth.waiting).toEqual({ count: 7, known: 'exact' });
  expect(depth.dead.why).toBe('not_in_schema');
  expect(latency).toMatchObject({ known: 'unavailable', why: 'no_created_at' });
  expect(throughput).toEqual({ createdPerMinute: null, publishedPerMinute: null, known: 'unavailable', why: 'no_published_at' });
  expect([oldestPendingAt, retries.why, byType]).toEqual([null, 'no_attempts', []]);
  expect(seriesIn(reading).points.map((point) => point.waiting)).toEqual([...Array.from({ length: 59 }, () => null), 7]);
});

test('times inside JSON and as numbers are computed with, a count that is no number is not', async () => {
  const { depth, byType, oldestPendingAt, lastPublishedAt } = figuresOf(await read('buried'));
  expect(depth.pending).toEqual({ count: 1, known: 'exact' });
  expect(byType).toMatchObject([{ type: 'a', waiting: 1, retries: null }]);
  expect(Date.parse(oldestPendingAt ?? '')).toBe(Date.parse('2026-01-01T00:00:00Z'));
  expect(Date.parse(lastPublishedAt ?? '')).toBe(1_700_000_000_000);
});

test.each(['times', 'seen'])('%s: infinite, missing and future times are left out where they would lie', async (id) => {
  const reading = await read(id);
  const { depth, latency, oldestPendingAt } = figuresOf(reading);
  expect(depth.pending.count).toBe(id === 'times' ? 3 : 4);
  // 60 s, 20 s and the negative one as 0: rows without both times have no latency.
  expect(latency).toMatchObject({ count: 3, p50Ms: expect.closeTo(20_000, -3) as number });
  expect(Date.now() - Date.parse(oldestPendingAt ?? '')).toBeLessThan(60_000);
  const series = seriesIn(reading);
  // What a clock ahead dates into the future counts as now.
  expect(series.points.at(-1)?.published).toBeGreaterThanOrEqual(1);
  expect(series.points.reduce((sum, point) => sum + (point.published ?? 0), 0)).toBe(5);
});
