import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { carryOut } from './product';
import { quantile, short } from './support/figures';
import type { BenchServer } from './support/server';

const FRESH_PER_SECOND = 200;
const BEFORE_MS = 20_000;
/** A relay that takes 500 at a time, as many as this a second. */
const RELAY_BATCH = 500;
const RELAY_PER_SECOND = 5_500;
const TX_MS = 50;
const FRESH_MS = 2_000;
const RUN_SECONDS = 300;

export const runsBench: Bench = {
  name: 'runs',
  about: 'what a run of 100,000 dead letters does to the relay, beside one UPDATE',
  rows: [100_000],
  async run({ server, databases, rows: [rows = 0] }) {
    const run = await measure(server, databases.empty, rows, 'run');
    const update = await measure(server, databases.empty, rows, 'one UPDATE');
    const lines = [run, update];
    return {
      tables: [
        {
          title: 'Requeued dead letters',
          columns: [
            'by',
            'seconds until all are out',
            'transaction p50 ms',
            'p95 ms',
            'max ms',
            'fresh p99 ms before',
            'fresh p99 ms meanwhile',
          ],
          rows: lines.map(({ by, seconds, tookMs, before, during }) => [
            ...[by, seconds, quantile(tookMs, 0.5), quantile(tookMs, 0.95), quantile(tookMs, 1), before, during],
          ]),
        },
      ],
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
          limit: FRESH_MS,
          unit: 'ms',
        },
        {
          promise: 'a run of 100,000',
          name: `seconds until all ${short(rows)} are out`,
          measured: run.seconds,
          limit: RUN_SECONDS,
          unit: 's',
        },
      ],
      notes: [
        `${short(rows)} dead letters of a published-at outbox, a relay that takes up to ${RELAY_PER_SECOND} events a second, oldest first, and ${FRESH_PER_SECOND} fresh events a second. Fresh latency is from created to published.`,
        'The run has the default pace. One UPDATE is one statement that moves all of them at once.',
      ],
    };
  },
};

interface Measured {
  by: string;
  seconds: number;
  tookMs: number[];
  before: number;
  during: number;
}

async function measure(
  server: BenchServer,
  empty: (name: string) => Promise<string>,
  rows: number,
  by: 'run' | 'one UPDATE',
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
  const traffic = await startTraffic(url);
  try {
    await sleep(BEFORE_MS);
    const before = await freshP99(server, name, `created_at > now() - interval '1 hour'`);
    const began = Date.now();
    const tookMs = by === 'run' ? await carryOut(url, server.superuserUrl(storeName), publishedAtFilling) : [await moveAll(server, name)];
    for (let open = rows; open > 0; await sleep(100)) {
      const [row] = await server.query<{ n: string }>(
        name,
        `SELECT count(*) AS n FROM outbox_events WHERE dedup_key LIKE 'x%' AND published_at IS NULL`,
      );
      open = Number(row?.n);
    }
    const seconds = (Date.now() - began) / 1_000;
    await sleep(1_000);
    const during = await freshP99(
      server,
      name,
      `created_at > '${new Date(began).toISOString()}' AND created_at < '${new Date(began + seconds * 1_000).toISOString()}'`,
    );
    return { by, seconds, tookMs, before, during };
  } finally {
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

/** Fresh events, and the relay that takes the oldest first. */
async function startTraffic(url: string): Promise<{ stop(): Promise<void> }> {
  const clients = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })] as const;
  for (const client of clients) await client.connect();
  const [writer, relay] = clients;
  let stopped = false;
  let n = 0;
  const every = async (ms: number, work: () => Promise<unknown>): Promise<void> => {
    while (!stopped) {
      const next = Date.now() + ms;
      await work();
      await sleep(Math.max(0, next - Date.now()));
    }
  };
  const perTick = FRESH_PER_SECOND / 20;
  const loops = [
    every(50, async () => {
      await writer.query(
        `INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload, dedup_key)
          SELECT gen_random_uuid(), 'order', 'new-' || i, 'order.paid', '{}', 'fresh' || i FROM generate_series($1::int, $2::int) AS i`,
        [n + 1, n + perTick],
      );
      n += perTick;
    }),
    every((RELAY_BATCH / RELAY_PER_SECOND) * 1_000, () =>
      relay.query(
        `UPDATE outbox_events SET published_at = clock_timestamp() WHERE id IN (SELECT id FROM outbox_events WHERE published_at IS NULL
          ORDER BY created_at LIMIT ${RELAY_BATCH} FOR UPDATE SKIP LOCKED)`,
      ),
    ),
  ];
  return {
    async stop() {
      stopped = true;
      await Promise.all(loops);
      for (const client of clients) await client.end();
    },
  };
}
