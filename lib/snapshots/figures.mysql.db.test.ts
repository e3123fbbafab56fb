/** Figures of windows on MariaDB: what was collected and what was read just now together say what the rows say, counted one by one. */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defineShape } from '@/lib/shape/define';
import type { Window } from '@/lib/shared/figures/windows';
import type { Summary } from '@/lib/shared/model';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestMysql } from '@/scripts/testing/mysql';
import { openHistory } from '@/lib/history/history';
import { createCollector, type Collector } from '@/lib/history/collector/collector';
import { computeInStore } from '@/lib/live/take-reading';
import { RELATIVE_ERROR } from '@/lib/rollup/histogram';
import { createSnapshots, type Snapshots } from './snapshots';
import { expectRate } from '@/fixtures/rates';
import { countedDirectory, shapeCalled, testOutbox, type CountedDirectory, type TestOutbox } from '@/fixtures/outboxes';

/** A row as the questions are asked of it; times in milliseconds since the epoch. */
interface Event {
  state: string;
  type: string;
  created: number;
  published: number | null;
}

const NOW = Math.floor(Date.now() / 1_000) * 1_000;
const HOUR = 3_600_000;

/** The same numbers in every run, evenly between 0 and 1. */
function drawn(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function events(resolutionMs: number): Event[] {
  const random = drawn(5);
  const round = (time: number): number => Math.floor(time / resolutionMs) * resolutionMs;
  const type = (): string => `type.${Math.floor(random() * 5)}`;
  const latency = (): number => Math.exp(5 + 1.4 * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(6.2831853 * random()));
  const published = (spanMs: number): Event => {
    const created = round(NOW - 60_000 - random() * spanMs);
    return { state: 'published', type: type(), created, published: Math.min(round(created + latency()), NOW - 5_000) };
  };
  const open = (state: string): Event => ({ state, type: type(), created: round(NOW - random() * 1.5 * HOUR), published: null });
  return [
    ...Array.from({ length: 2_500 }, () => published(3 * HOUR)),
    ...Array.from({ length: 500 }, () => published(480 * HOUR)),
    ...['pending', 'pending', 'pending', 'processing'].flatMap((state) => Array.from({ length: 13 }, () => open(state))),
  ];
}

const TIMED = defineShape({
  key: 'inline',
  label: 'timed',
  origin: 'test',
  engines: ['mysql'],
  table: 'timed',
  columns: { id: 'id', type: 'kind', createdAt: 'made', publishedAt: 'sent', attemptedAt: 'taken' },
  states: [
    { state: 'published', when: { column: 'sent', isNull: false } },
    { state: 'processing', when: { column: 'taken', isNull: false } },
    { state: 'pending', when: { column: 'sent', isNull: true } },
  ],
});

const STATUS: Record<string, string> = { published: 'PROCESSED', processing: 'PROCESSING', pending: 'PENDING' };
const text = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString().replace('T', ' ').replace('Z', '');

const CASES: { id: string; outbox: TestOutbox; rows: Event[]; ddl: string; columns: string; values: (event: Event) => unknown[] }[] = [
  {
    id: 'worker',
    outbox: testOutbox(shapeCalled('worker-status'), 'x', { id: 'worker', table: 'outbox_events' }),
    // Its times are kept to the second.
    rows: events(1_000),
    ddl: sampleOf(shapeCalled('worker-status')).ddl.mysql?.[0] ?? '',
    columns: 'outbox_events (event_type, payload, created_at, processed_at, status, updated_at)',
    values: ({ type, created, published, state }) => [
      type,
      '{}',
      text(created),
      text(published),
      STATUS[state],
      text(published ?? created),
    ],
  },
  {
    id: 'timed',
    outbox: testOutbox(TIMED, 'x', { id: 'timed', inline: true, table: 'timed' }),
    rows: events(1),
    ddl: `create table timed (id bigint auto_increment primary key, kind varchar(40), made datetime(3) not null, sent datetime(3), taken datetime(3), key (sent, made))`,
    columns: 'timed (kind, made, sent, taken)',
    values: ({ type, created, published, state }) => [type, text(created), text(published), state === 'processing' ? text(created) : null],
  },
];

const database = useTestMysql(async ({ query }) => {
  for (const { ddl, rows, columns, values } of CASES) {
    await query(ddl);
    for (let from = 0; from < rows.length; from += 500)
      await query(`insert into ${columns} values ?`, [rows.slice(from, from + 500).map(values)]);
  }
});
const kept = useTestDatabase();
let directory: CountedDirectory;
let store: Store;
let collector: Collector;
let snapshots: Snapshots;
/** A script gets a new reading once a second: here a second has gone by whenever one asks. */
let aheadMs = 0;
const summaryOf = (id: string, window: Window): Promise<Summary> => {
  aheadMs += 1_000;
  return snapshots.summary(id, window);
};
const failures: unknown[] = [];

beforeAll(async () => {
  directory = countedDirectory(
    database.url,
    CASES.map(({ outbox }) => outbox),
  );
  await migrateStore(kept.url);
  store = openStore(kept.url);
  collector = createCollector({
    directory,
    store,
    observers: [],
    tickMs: 500,
    retentionDays: 400,
    depthNow: () => Promise.resolve(null),
    onError: (outbox, error) => failures.push([outbox, error]),
    timing: { settle: 0.5, margin: 0.1, most: 1, lease: 15, recount: 1, duty: 1 },
  });
  collector.start();
  const done = (id: string): boolean => {
    const { state, backfill } = collector.status(id);
    return state !== 'waiting' && backfill === null;
  };
  while (!CASES.every(({ id }) => done(id))) await new Promise((resolve) => setTimeout(resolve, 100));
  snapshots = createSnapshots(directory, {
    history: openHistory(store),
    compute: computeInStore(store),
    now: () => Date.now() + aheadMs,
    onFailure: (outbox, error) => failures.push([outbox, error]),
  });
});
afterAll(async () => {
  await collector.stop();
  await Promise.all([directory.close(), store.close()]);
});
afterEach(() => expect(failures).toEqual([]));

/** As PostgreSQL's percentile_cont has it. */
function quantile(values: number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = fraction * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)] ?? NaN, sorted[Math.ceil(rank)] ?? NaN];
  return low + (high - low) * (rank - Math.floor(rank));
}

describe.each(CASES)('$id', ({ id, rows }) => {
  test('depth of every state, since when the oldest waits, and what was published last', async () => {
    const { depth, oldestPendingAt, lastPublishedAt } = await summaryOf(id, '1h');
    expect(depth.pending).toEqual({ count: 39, known: 'exact' });
    expect(depth.processing).toEqual({ count: 13, known: 'exact' });
    const pending = rows.filter(({ state }) => state === 'pending');
    expect(Date.parse(oldestPendingAt ?? '')).toBe(Math.min(...pending.map(({ created }) => created)));
    expect(Date.parse(lastPublishedAt ?? '')).toBe(Math.max(...rows.map(({ published }) => published ?? 0)));
  });

  test.each(['15m', '1h', '24h', '7d', '30d'] as const satisfies Window[])('latency and throughput over %s', async (window) => {
    const summary = await summaryOf(id, window);
    const { latency, throughput, from } = summary;
    const start = Date.parse(from);
    const within = rows.filter(({ published }) => published !== null && published >= start);
    expect(latency.count).toBe(within.length);
    expectRate(throughput.publishedPerMinute, summary, within.length);
    // Of the thirty days twenty have rows: nobody can tell whether there were others before.
    expect([throughput.since === undefined, latency.errorShare === undefined]).toEqual(window === '30d' ? [false, true] : [true, false]);
    // What is told is as far off as the table's own times are, besides the histogram.
    if (latency.errorShare !== undefined) {
      expect(latency.errorShare * (latency.p99Ms ?? NaN)).toBeGreaterThanOrEqual(id === 'worker' ? 1_000 : 0);
      expect(latency.errorShare).toBeGreaterThan(id === 'worker' ? 0.1 : 0);
    }
    const latencies = within.map(({ created, published }) => Math.max(0, (published ?? 0) - created));
    for (const [told, fraction] of [
      [latency.p50Ms, 0.5],
      [latency.p95Ms, 0.95],
      [latency.p99Ms, 0.99],
    ] as const) {
      const wanted = quantile(latencies, fraction);
      // Kept to the second, what took less than one took at most that.
      if (wanted === 0) expect([told, latency.atMostMs]).toEqual([null, 1_000]);
      else
        expect(Math.abs((told ?? NaN) - wanted), `${String(fraction)}: ${String(told)}, ${String(wanted)}`).toBeLessThanOrEqual(
          wanted * RELATIVE_ERROR + 0.01,
        );
    }
  });

  test('by type adds up to the whole', async () => {
    const { byType, depth } = await summaryOf(id, '1h');
    expect(byType).toHaveLength(5);
    expect(byType.reduce((sum, { waiting }) => sum + (waiting ?? 0), 0)).toBe(depth.waiting.count);
  });

  test('the series counts what went out and what came in each minute, and its newest waiting is the tile', async () => {
    const { series, summary } = await snapshots.outbox(id, '1h');
    expect(series.points).toHaveLength(60);
    expect(series.points.at(-1)?.waiting).toBe(summary.depth.waiting.count);
    expect(series.points.every((point) => !point.gap)).toBe(true);
    for (const point of [series.points[3], series.points[40], series.points.at(-4)]) {
      const from = Date.parse(point?.at ?? '');
      const within = (time: number | null): boolean => time !== null && time >= from && time < from + 60_000;
      expect(point?.published).toBe(rows.filter(({ published }) => within(published)).length);
      expect(point?.created).toBe(rows.filter(({ created }) => within(created)).length);
    }
  });
});

test('what is published while the screen is open is counted at once, and once', async () => {
  await database.query(`update timed set sent = utc_timestamp(3) where sent is null and taken is null order by id limit 9`);
  for (let round = 0; round < 6; round += 1) {
    expect((await summaryOf('timed', '24h')).depth.pending.count).toBe(30);
    const { latency, from } = await summaryOf('timed', '15m');
    const [row] = await database.query<{ n: number }>(
      `select count(*) as n from timed where sent >= '${from.slice(0, 19).replace('T', ' ')}'`,
    );
    expect(latency.count).toBe(Number(row?.n));
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
});
