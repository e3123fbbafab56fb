import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { EventFilter } from '@/lib/shared/model';
import { PLAN_EVENTS_MAX } from '@/lib/shared/runs/plans';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { carryOut, type CarriedOut, deadByCause, eventPage, listPage, openDirectory, OUTBOX_ID } from './product';
import { quantile, short } from './support/figures';
import type { Table } from './support/report';
import type { BenchServer } from './support/server';

/** What a relay takes, at once and a second, oldest first, and how many fresh events come a second. */
interface Load {
  batch: number;
  perSecond: number;
  fresh: number;
}

const FAST: Load = { batch: 500, perSecond: 5_500, fresh: 200 };
const SLOW: Load = { batch: 1, perSecond: 10, fresh: 2 };
const BEFORE_MS = 30_000;
/** How often the five pages are asked for: as two people who have all of them open. */
const PAGES_MS = 2_500;
const TX_MS = 50;
const FRESH_MS = { more: 2_000, slow: 4_000 };
const RUN_SECONDS = { fast: 300, slow: 900 };
const PAGE_TIMES = 1.2;
const PLAN_MB = 20;

export const runsBench: Bench = {
  name: 'runs',
  about: 'what a run of 100,000 dead letters does to the relay and to pages, beside one UPDATE',
  rows: [100_000],
  async run({ server, databases, rows: [rows = 0] }) {
    const run = await measure(server, databases.empty, rows, 'run', FAST);
    const update = await measure(server, databases.empty, rows, 'one UPDATE', FAST);
    return {
      tables: [tableOf([run, update])],
      budgets: [
        {
          promise: "p95 of a run's transactions",
          name: `p95 of ${String(run.tookMs.length)} batches`,
          measured: quantile(run.tookMs, 0.95),
          limit: TX_MS,
          unit: 'ms',
        },
        {
          promise: 'fresh events beside a run',
          name: 'fresh p99 meanwhile − before',
          measured: run.during - run.before,
          limit: FRESH_MS.more,
          unit: 'ms',
        },
        {
          promise: 'pages beside a run',
          name: 'pages meanwhile ÷ before',
          measured: run.pages.during / run.pages.before,
          limit: PAGE_TIMES,
          unit: 'times',
        },
        {
          promise: 'a run of 100,000',
          name: `seconds until all ${short(rows)} are out`,
          measured: run.seconds,
          limit: RUN_SECONDS.fast,
          unit: 's',
        },
        {
          promise: 'a plan of 250,000 in the store',
          name: `${short(PLAN_EVENTS_MAX)} events, by what ${short(rows)} take`,
          measured: ((run.planBytes / rows) * PLAN_EVENTS_MAX) / 1e6,
          limit: PLAN_MB,
          unit: 'MB',
        },
      ],
      notes: [
        `${short(rows)} dead letters of a published-at outbox; ${loadOf(FAST)} Fresh latency is from created to published.`,
        `Pages are five (lists, causes, one event), one after the other every ${PAGES_MS / 1_000} s, as two people have them open: the median of all five.`,
        'The run has the default pace. One UPDATE is one statement that moves all of them at once.',
      ],
    };
  },
};

export const slowRunsBench: Bench = {
  name: 'runs-slow',
  about: 'a run of 4,000 dead letters with a relay that takes ten a second',
  rows: [4_000],
  async run({ server, databases, rows: [rows = 0] }) {
    const run = await measure(server, databases.empty, rows, 'run', SLOW);
    return {
      tables: [tableOf([run])],
      budgets: [
        {
          promise: 'a run at ten a second',
          name: `seconds until all ${short(rows)} are out`,
          measured: run.seconds,
          limit: RUN_SECONDS.slow,
          unit: 's',
        },
        { promise: 'fresh events beside it', name: 'fresh p99 meanwhile', measured: run.during, limit: FRESH_MS.slow, unit: 'ms' },
      ],
      notes: [`${short(rows)} dead letters of a published-at outbox; ${loadOf(SLOW)} The run has the default pace.`],
    };
  },
};

const loadOf = ({ batch, perSecond, fresh }: Load): string =>
  `a relay that takes up to ${perSecond} events a second, ${batch} at a time, oldest first, and ${fresh} fresh events a second.`;

const tableOf = (lines: readonly Measured[]): Table => ({
  title: 'Requeued dead letters',
  columns: [
    ...['by', 'seconds until all are out', 'transaction p50 ms', 'p95 ms', 'max ms'],
    ...['fresh p99 ms before', 'fresh p99 ms meanwhile', 'pages ms before', 'pages ms meanwhile'],
  ],
  rows: lines.map(({ by, seconds, tookMs, before, during, pages }) => [
    ...[by, seconds, quantile(tookMs, 0.5), quantile(tookMs, 0.95), quantile(tookMs, 1)],
    ...[before, during, pages.before, pages.during],
  ]),
});

interface Measured extends CarriedOut {
  by: string;
  seconds: number;
  before: number;
  during: number;
  pages: { before: number; during: number };
}

async function measure(
  server: BenchServer,
  empty: (name: string) => Promise<string>,
  rows: number,
  by: 'run' | 'one UPDATE',
  load: Load,
): Promise<Measured> {
  const [name, storeName] = [await empty('bench_runs'), await empty('bench_runs_store')];
  const url = server.superuserUrl(name);
  for (const statement of publishedAtFilling.ddl) await server.query(name, statement);
  await server.query(
    name,
    `INSERT INTO outbox_dead (id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at, attempt, died_at, last_error)
      SELECT gen_random_uuid(), 'order', 'order-' || i, 'order.paid', jsonb_build_object('n', i, 'text', repeat('x', 300)), '{}', 'x' || i,
        now() - interval '2 hours' + i * interval '1 ms', 10, now() - interval '1 hour', 'broker refused' FROM generate_series(1, $1::int) AS i`,
    [rows],
  );
  await server.query(name, 'ANALYZE');
  const traffic = await startTraffic(url, load);
  const pages = await openPages(url);
  try {
    await sleep(BEFORE_MS);
    const pagesBefore = pages.medianMs();
    const before = await freshP99(server, name, `created_at > now() - interval '1 hour'`);
    const began = Date.now();
    const carried =
      by === 'run'
        ? await carryOut(url, server.superuserUrl(storeName), publishedAtFilling)
        : { tookMs: [await moveAll(server, name)], planBytes: 0 };
    for (let open = rows; open > 0; await sleep(100)) {
      const [row] = await server.query<{ n: string }>(
        name,
        `SELECT count(*) AS n FROM outbox_events WHERE dedup_key LIKE 'x%' AND published_at IS NULL`,
      );
      open = Number(row?.n);
    }
    const seconds = (Date.now() - began) / 1_000;
    const pagesDuring = pages.medianMs();
    await sleep(1_000);
    const during = await freshP99(
      server,
      name,
      `created_at > '${new Date(began).toISOString()}' AND created_at < '${new Date(began + seconds * 1_000).toISOString()}'`,
    );
    return { ...carried, by, seconds, before, during, pages: { before: pagesBefore, during: pagesDuring } };
  } finally {
    await pages.stop();
    await traffic.stop();
  }
}

async function freshP99(server: BenchServer, name: string, which: string): Promise<number> {
  const [row] = await server.query<{ ms: string }>(
    name,
    `SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM coalesce(published_at, now()) - created_at)) * 1000 AS ms
      FROM outbox_events WHERE dedup_key LIKE 'fresh%' AND ${which}`,
  );
  return Number(row?.ms);
}

async function moveAll(server: BenchServer, name: string): Promise<number> {
  const began = performance.now();
  await server.query(
    name,
    `WITH gone AS (DELETE FROM outbox_dead RETURNING *)
      INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at, attempt)
      SELECT id, aggregate_type, aggregate_id, event_type, payload, headers, dedup_key, created_at, 0 FROM gone`,
  );
  return performance.now() - began;
}

/** Somebody has the screens open: how long the pages took since the last question, in milliseconds. */
async function openPages(url: string): Promise<Loop & { medianMs(): number }> {
  const directory = openDirectory(url, publishedAtFilling.shape, publishedAtFilling.table);
  const outbox = await directory.get(OUTBOX_ID);
  let took: number[] = [];
  const [first] = (await listPage(outbox, { state: ['dead'] }, undefined, 1)).events;
  const loop = every(PAGES_MS, async () => {
    const began = performance.now();
    for (const filter of PAGES) await listPage(outbox, filter);
    await deadByCause(outbox);
    await eventPage(outbox, first?.id ?? '');
    took.push(performance.now() - began);
  });
  return {
    medianMs() {
      const median = quantile(took, 0.5);
      took = [];
      return median;
    },
    async stop() {
      await loop.stop();
      await directory.close();
    },
  };
}

const PAGES: readonly EventFilter[] = [{}, { state: ['dead'] }, { state: ['pending', 'retrying'] }];

/** Fresh events, and the relay that takes the oldest first. */
async function startTraffic(url: string, { batch, perSecond, fresh }: Load): Promise<Loop> {
  const clients = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })] as const;
  for (const client of clients) await client.connect();
  const [writer, relay] = clients;
  const freshMs = Math.max(50, 1_000 / fresh);
  const atOnce = (fresh * freshMs) / 1_000;
  let n = 0;
  const loops = [
    every(freshMs, async () => {
      await writer.query(
        `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, dedup_key)
          SELECT gen_random_uuid(), 'order', 'new-' || i, 'order.paid', '{}', 'fresh' || i FROM generate_series($1::int, $2::int) AS i`,
        [n + 1, n + atOnce],
      );
      n += atOnce;
    }),
    every((batch / perSecond) * 1_000, () =>
      relay.query(
        `UPDATE outbox_events SET published_at = clock_timestamp() WHERE id IN (SELECT id FROM outbox_events WHERE published_at IS NULL
          ORDER BY created_at LIMIT ${batch} FOR UPDATE SKIP LOCKED)`,
      ),
    ),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      for (const client of clients) await client.end();
    },
  };
}

interface Loop {
  stop(): Promise<void>;
}

/** Begins `work` this often, where it takes no longer. */
function every(ms: number, work: () => Promise<unknown>): Loop {
  let stopped = false;
  const looping = (async () => {
    while (!stopped) {
      const next = Date.now() + ms;
      await work();
      await sleep(Math.max(0, next - Date.now()));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await looping;
    },
  };
}
