import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Summary } from '@/lib/shared/model';
import { WINDOW_SECONDS, type Window } from '@/lib/shared/figures/windows';
import { useTestDatabase } from '@/scripts/testing/database';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { openHistory } from '@/lib/history/history';
import { createCollector, type Collector } from '@/lib/history/collector/collector';
import { RELATIVE_ERROR } from '@/lib/rollup/histogram';
import { createSnapshots, type Snapshots } from './snapshots';
import { createdFrom, expectRate } from '@/fixtures/rates';
import { countedDirectory, sampleTables, shapeCalled, testOutbox, type CountedDirectory } from '@/fixtures/outboxes';

/**
 * How to fill a table of a shape and how to ask the same questions in plain SQL. `i` is the row's number; `created`
 * and `published` are instants the rows are given.
 */
interface Case {
  shape: string;
  /** Columns and values of a published row, and of rows in other states. */
  insert: (state: string) => string;
  /** Plain SQL for each state; null where the shape has none. */
  states: Record<'pending' | 'retrying' | 'processing' | 'dead' | 'published', string | null>;
  table: string;
  created: string;
  published: string | null;
  type: string;
}

const CASES: Case[] = [
  {
    shape: 'escrow-status',
    table: 'transaction_outbox',
    created: 'create_time',
    published: 'processed_time',
    type: 'transaction_type',
    insert: (
      state,
    ) => `insert into {schema}.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, create_time, processed_time, last_attempt_time, retry_count, error_message)
      select gen_random_uuid(), i, type, 'r', ${{ published: "'processed'", dead: "'failed'", processing: "'processing'", retrying: "'pending'", pending: "'pending'" }[state] ?? ''}, '{}', created,
        ${state === 'published' ? 'published' : 'null'}, ${state === 'published' ? "published - latency * interval '0.4 ms'" : state === 'pending' ? 'null' : "now() - interval '10 s'"}, ${state === 'pending' ? 0 : 2}, null`,
    states: {
      pending: "status = 'pending' and retry_count = 0",
      retrying: "status = 'pending' and retry_count > 0",
      processing: "status = 'processing'",
      dead: "status = 'failed'",
      published: "status = 'processed'",
    },
  },
  {
    shape: 'worker-status',
    table: 'outbox_events',
    created: "created_at at time zone 'UTC'",
    published: "processed_at at time zone 'UTC'",
    type: 'event_type',
    insert: (state) => `insert into {schema}.outbox_events (event_type, payload, created_at, processed_at, status, updated_at)
      select type, '{}', created at time zone 'UTC', ${state === 'published' ? "published at time zone 'UTC'" : 'null'},
        ${{ published: "'PROCESSED'", processing: "'PROCESSING'", pending: "'PENDING'" }[state] ?? ''}, ${state === 'published' ? 'published' : 'now()'} at time zone 'UTC'`,
    states: {
      pending: "status = 'PENDING'",
      retrying: null,
      processing: "status = 'PROCESSING'",
      dead: null,
      published: "status = 'PROCESSED'",
    },
  },
  {
    shape: 'published-at',
    table: 'outbox_events',
    created: 'created_at',
    published: 'published_at',
    type: 'event_type',
    insert: (
      state,
    ) => `insert into {schema}.${state === 'dead' ? 'outbox_dead' : 'outbox_events'} (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at, attempt)
      select gen_random_uuid(), 'a', 'a', type, '{}', created, ${state === 'published' ? 'published' : 'null'}, ${state === 'retrying' || state === 'dead' ? 3 : 0}`,
    states: {
      pending: 'published_at is null and attempt = 0',
      retrying: 'published_at is null and attempt > 0',
      processing: null,
      dead: '(select count(*) from {schema}.outbox_dead)',
      published: 'published_at is not null',
    },
  },
  {
    shape: 'courier-status',
    table: 'outbox',
    created: "created_at at time zone 'UTC'",
    published: null,
    type: 'event_type',
    insert: (state) => `insert into {schema}.outbox (id, event_type, payload, status, created_at)
      select gen_random_uuid(), type, '{}', ${state === 'published' ? "'PROCESSED'" : "'PENDING'"}, created at time zone 'UTC'`,
    states: { pending: "status = 'PENDING'", retrying: null, processing: null, dead: null, published: "status = 'PROCESSED'" },
  },
  {
    shape: 'listen-notify',
    table: 'outbox',
    created: 'created_at',
    published: 'processed_at',
    type: 'event_type',
    insert: (
      state,
    ) => `insert into {schema}.${state === 'dead' ? 'outbox_dead' : 'outbox'} (id, aggregate_type, aggregate_id, event_type, payload, created_at, processed_at, retry_count)
      select gen_random_uuid(), 'a', 'a', type, '{}', created, ${state === 'published' ? 'published' : 'null'}, ${state === 'retrying' || state === 'dead' ? 2 : 0}`,
    states: {
      pending: 'processed_at is null and retry_count = 0',
      retrying: 'processed_at is null and retry_count > 0',
      processing: null,
      dead: '(select count(*) from {schema}.outbox_dead)',
      published: 'processed_at is not null',
    },
  },
];

/** Latencies in milliseconds, from `random()`. */
const LATENCIES = {
  heavy: 'exp(5 + 1.4 * sqrt(-2 * ln(1 - random())) * cos(6.2831853 * random()))',
  constant: '750.0',
  bimodal: 'case when random() < 0.6 then 20 + random() * 5 else 9000 + random() * 500 end',
  empty: null,
} as const;
const COUNTS = { pending: 37, retrying: 11, processing: 7, dead: 23 } as const;

const database = useTestDatabase();
const kept = useTestDatabase();
let directory: CountedDirectory;
let store: Store;
let collector: Collector;
let snapshots: Snapshots;
/** A script gets a new reading once a second: here a second has gone by whenever one asks. */
let aheadMs = 0;
const failures: unknown[] = [];
const schemaOf = (one: Case, latency: string): string => `${one.shape.replaceAll('-', '_')}_${latency}`;

beforeAll(async () => {
  const outboxes = [];
  for (const one of CASES) {
    for (const [name, latency] of Object.entries(LATENCIES)) {
      const schema = schemaOf(one, name);
      const rows = (count: number, ago: string, ms: string): string =>
        ` from (select s.*, created + latency * interval '1 ms' as published from (select i, 'type.' || i % 5 as type, now() - ${ago} as created, ${ms} as latency from generate_series(1, ${count}) as i) as s) as r`;
      const fill =
        latency === null
          ? []
          : [
              `${one.insert('published')}${rows(3_000, "random() * interval '3 hours'", latency)}`,
              `${one.insert('published')}${rows(500, "interval '20 days' * random()", latency)}`,
              ...(['pending', 'retrying', 'processing', 'dead'] as const)
                .filter((state) => one.states[state] !== null)
                .map((state) => `${one.insert(state)}${rows(COUNTS[state], "random() * interval '90 min'", '0')}`),
            ];
      await database.query(
        ['select setseed(0.4)', ...sampleTables(shapeCalled(one.shape), schema), ...fill].join(';\n').replaceAll('{schema}', schema),
      );
      outboxes.push(testOutbox(shapeCalled(one.shape), schema));
    }
  }
  directory = countedDirectory(database.url, outboxes);
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
    timing: { settle: 0.5, margin: 0.1, most: 3, lease: 15, recount: 1, duty: 1 },
  });
  collector.start();
  await pastIsRead(outboxes.map(({ id }) => id));
  snapshots = createSnapshots(directory, {
    history: openHistory(store),
    now: () => Date.now() + aheadMs,
    onFailure: (outbox, error) => failures.push([outbox, error]),
  });
});
afterAll(async () => {
  await collector.stop();
  await Promise.all([directory.close(), store.close()]);
});

async function pastIsRead(ids: string[]): Promise<void> {
  const done = (id: string): boolean => {
    const { state, backfill } = collector.status(id);
    return state !== 'waiting' && backfill === null;
  };
  while (!ids.every(done)) await new Promise((resolve) => setTimeout(resolve, 100));
}
afterEach(() => expect(failures).toEqual([]));

const since = (column: string, from: string): string => `${column} >= '${from}'::timestamptz`;

describe.each(CASES)('$shape', (one) => {
  const table = (name: string): string => `${schemaOf(one, name)}.${one.table}`;
  async function scalar(name: string, expression: string, where = 'true'): Promise<number | string | null> {
    const [row] = await database.query<{ value: number | string | null }>(
      `select (${expression}) as value from ${table(name)} where ${where}`.replaceAll('{schema}', schemaOf(one, name)),
    );
    return row?.value ?? null;
  }
  const countOf = async (name: string, where: string): Promise<number> => Number(await scalar(name, 'count(*)', where));

  describe.each(Object.keys(LATENCIES))('%s latencies', (name) => {
    const id = schemaOf(one, name).replaceAll('_', '-');
    const inSummary = (window: Window): Promise<Summary> => {
      aheadMs += 1_000;
      return snapshots.summary(id, window);
    };

    test('depth of every state is what plain SQL counts, and unavailable where the shape cannot show it', async () => {
      const { depth } = await inSummary('1h');
      for (const state of ['pending', 'retrying', 'processing', 'dead'] as const) {
        const where = one.states[state];
        if (where === null) expect(depth[state], state).toEqual({ count: null, known: 'unavailable', why: 'not_in_schema' });
        else {
          const counted = where.startsWith('(select')
            ? Number(
                ((await database.query<{ n: string }>(`select ${where} as n`.replaceAll('{schema}', schemaOf(one, name))))[0] ?? { n: 0 })
                  .n,
              )
            : await countOf(name, where);
          expect(depth[state], state).toEqual({ count: counted, known: 'exact' });
        }
      }
      expect(depth.waiting).toEqual({ count: (depth.pending.count ?? 0) + (depth.retrying.count ?? 0), known: 'exact' });
    });

    function expectClose(figure: number | null, wanted: number | null): void {
      if (figure === null || wanted === null) return expect(figure ?? wanted).toBeNull();
      expect(Math.abs(figure - wanted)).toBeLessThanOrEqual(wanted * RELATIVE_ERROR + 0.01);
      return undefined;
    }

    test.each(['15m', '1h', '24h', '7d', '30d', '90d'] as const)(
      'latency and throughput over %s agree with percentile_cont and count',
      async (window) => {
        const summary = await inSummary(window);
        const { latency, throughput, from, asOf } = summary;
        const { published: publishedAt } = one;
        if (publishedAt === null) {
          // Nobody was watching when these rows went out, and they do not tell when it was.
          expect(latency).toMatchObject({ p50Ms: null, p95Ms: null, p99Ms: null });
          expect(throughput.publishedPerMinute ?? 0).toBe(0);
          return;
        }
        const minutes = (Date.parse(asOf) - Date.parse(from)) / 60_000;
        expect(minutes - WINDOW_SECONDS[window] / 60).toBeGreaterThanOrEqual(0);
        expect(minutes - WINDOW_SECONDS[window] / 60).toBeLessThan(window.endsWith('d') ? 60 : 1);
        const published = `${one.states.published ?? ''} and ${since(publishedAt, from)}`;
        const count = await countOf(name, published);
        expect(latency.count).toBe(count);
        expectRate(throughput.publishedPerMinute, summary, count);
        const dead = one.states.dead?.startsWith('(select') === true && name !== 'empty' ? schemaOf(one, name) : null;
        const created = async (start: string): Promise<number> => {
          const died = dead === null ? '0' : `(select count(*) from ${dead}.outbox_dead where ${since('created_at', start)})`;
          return Number(await scalar(name, `count(*) + ${died}`, since(one.created, start)));
        };
        const [least, most] = [await created(throughput.since ?? from), await created(createdFrom(summary))];
        expectRate(throughput.createdPerMinute, summary, least, most);
        for (const [key, fraction] of [
          ['p50Ms', 0.5],
          ['p95Ms', 0.95],
          ['p99Ms', 0.99],
        ] as const) {
          const wanted = (await scalar(
            name,
            `percentile_cont(${fraction}) within group (order by extract(epoch from ${publishedAt} - ${one.created})::float8 * 1000)`,
            published,
          )) as number | null;
          expectClose(latency[key], wanted);
        }
      },
    );

    test('oldest waiting and last published', async () => {
      const { oldestPendingAt, lastPublishedAt } = await inSummary('15m');
      const iso = (expression: string): string => `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
      const waiting = [one.states.pending, one.states.retrying]
        .filter((where) => where !== null)
        .map((where) => `(${where})`)
        .join(' or ');
      expect(oldestPendingAt).toBe(await scalar(name, iso(`min(${one.created})`), waiting));
      expect(lastPublishedAt).toBe(
        one.published === null ? null : await scalar(name, iso(`max(${one.published})`), one.states.published ?? ''),
      );
    });

    test('by type adds up to the whole', async () => {
      const { byType, depth, latency, from } = await inSummary('1h');
      if (name === 'empty') return expect(byType).toEqual([]);
      expect(byType).toHaveLength(5);
      const total = (key: 'waiting' | 'dead'): number => byType.reduce((sum, row) => sum + (row[key] ?? 0), 0);
      expect(total('waiting')).toBe(depth.waiting.count);
      if (depth.dead.count !== null) expect(total('dead')).toBe(depth.dead.count);
      else expect(byType.map((row) => row.dead)).toEqual([0, 0, 0, 0, 0].map(() => null));
      const nulls = (row: object) => Object.entries(row).flatMap(([key, value]) => (value === null ? [key] : []));
      for (const { why = {}, ...row } of byType) expect(Object.keys(why)).toEqual(nulls(row));
      if (latency.known === 'unavailable') for (const row of byType) expect(row.p95Ms).toBeNull();
      if (one.published !== null) {
        const [wanted] = await Promise.all([
          scalar(
            name,
            `percentile_cont(0.95) within group (order by extract(epoch from ${one.published} - ${one.created})::float8 * 1000)`,
            `${one.type} = 'type.1' and ${one.states.published ?? ''} and ${since(one.published, from)}`,
          ),
        ]);
        const told = byType.find((row) => row.type === 'type.1')?.p95Ms ?? NaN;
        expect(Math.abs(told - Number(wanted)) / Number(wanted)).toBeLessThanOrEqual(2 * RELATIVE_ERROR);
      }
      return undefined;
    });

    test('the series counts what plain SQL counts per step, and its newest waiting is the tile', async () => {
      const { series, summary } = await snapshots.outbox(id, '1h');
      expect(series.points).toHaveLength(60);
      expect(series.asOf).toBe(summary.asOf);
      const { points } = series;
      expect(points.at(-1)?.waiting).toBe(summary.depth.waiting.count);
      expect(points.at(-1)?.dead ?? null).toBe(summary.depth.dead.count);
      if (one.published === null) {
        expect(points.slice(0, -5).every((point) => point.gap && point.published === null)).toBe(true);
        return;
      }
      if (name === 'empty') return;
      expect(points.every((point) => !point.gap)).toBe(true);
      for (const point of [points[3], points[40], points.at(-2)]) {
        if (point === undefined) continue;
        const within = (column: string): string =>
          `${since(column, point.at)} and ${column} < '${point.at}'::timestamptz + interval '60 s'`;
        if (one.states.dead?.startsWith('(select') !== true) expect(point.created).toBe(await countOf(name, within(one.created)));
        const rows = `${one.states.published ?? ''} and ${within(one.published)}`;
        expect(point.published).toBe(await countOf(name, rows));
        const wanted = (await scalar(
          name,
          `percentile_cont(0.95) within group (order by extract(epoch from ${one.published} - ${one.created})::float8 * 1000)`,
          rows,
        )) as number | null;
        expectClose(point.p95Ms, wanted);
      }
      // Waiting at the end of a step, by the rows that are still in the table; those that left at an unknown time never count.
      const [point] = points.slice(30);
      const end = `'${point?.at ?? ''}'::timestamptz + interval '60 s'`;
      const open = [one.states.pending, one.states.retrying]
        .filter((where) => where !== null)
        .map((where) => `(${where})`)
        .join(' or ');
      const counted = await countOf(
        name,
        `${one.created} < ${end} and ((${open}) or (${one.states.published ?? ''} and ${one.published} >= ${end}))`,
      );
      const late =
        one.shape === 'escrow-status'
          ? await countOf(name, `${one.created} < ${end} and status in ('failed', 'processing')`)
          : one.shape === 'worker-status'
            ? await countOf(name, `${one.created} < ${end} and status = 'PROCESSING'`)
            : 0;
      const dead =
        one.states.dead?.startsWith('(select') === true
          ? Number(
              (
                await database.query<{ n: string }>(
                  `select count(*) as n from ${schemaOf(one, name)}.outbox_dead where created_at < ${end} and died_at >= ${end}`,
                )
              )[0]?.n ?? 0,
            )
          : 0;
      expect(point?.waiting).toBe(counted + late + dead);
      expect(series.known.waiting).toBe('estimated');
    });

    test('processing, retries and errors say what this table can say', async () => {
      const { processing, retries, errorRate, from } = await inSummary('1h');
      if (one.shape === 'worker-status' || one.shape === 'courier-status') {
        expect(retries).toEqual({ count: null, known: 'unavailable', why: 'no_attempts' });
        expect(errorRate).toEqual({ value: null, known: 'unavailable', why: 'no_attempts' });
      } else if (name !== 'empty') {
        expect([retries.known, errorRate.known]).toEqual(['estimated', 'estimated']);
        // Of rows that went out before anybody watched, what their counters tell.
        const published = await countOf(name, `${one.states.published ?? ''} and ${since(one.published ?? '', from)}`);
        const each = one.shape === 'escrow-status' ? 1 : 0;
        expect(Math.abs((retries.count ?? NaN) - each * published)).toBeLessThanOrEqual(published / 20);
      }
      if (one.shape === 'escrow-status') {
        if (name === 'empty') return expect(processing).toMatchObject({ p50Ms: null, why: 'no_events' });
        const wanted = Number(
          await scalar(
            name,
            `percentile_cont(0.5) within group (order by extract(epoch from processed_time - last_attempt_time)::float8 * 1000)`,
            `status = 'processed' and ${since('processed_time', from)}`,
          ),
        );
        expect(Math.abs((processing.p50Ms ?? NaN) - wanted) / wanted).toBeLessThanOrEqual(2 * RELATIVE_ERROR);
      } else if (one.shape !== 'worker-status' || name !== 'empty')
        expect(processing).toMatchObject({ p50Ms: null, p95Ms: null, p99Ms: null, known: 'unavailable', why: 'no_claim_time' });
      return undefined;
    });
  });
});
