import { setTimeout as sleep } from 'node:timers/promises';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { startTraffic, type Traffic } from './load/start-traffic';
import { collect, collectedUpTo, eventsInBooks } from './product';
import { countersOf, dearestStatements, difference, statementsOf, type Counters } from './support/counters';
import { quantile, short } from './support/figures';
import type { Budget } from './support/report';

const CORE_SHARE = 0.01;
const BUFFERS_PER_EVENT = 0.1;

const EVENTS_PER_SECOND = 5_000;
/** Until books and backlog are in their stride. */
const WARM_MS = 30_000;
const MEASURED_MS = 120_000;
/** The collector folds what is ten seconds old; recounts, which find what came late, are every minute. */
const SETTLE_MS = 75_000;
const FOLD_TIMEOUT_MS = 300_000;
/** Sixty seconds it may wait for transactions that are still open, and a look. */
const LAG_SECONDS = 70;
const STATEMENTS_SHOWN = 8;
const PAST_TIMEOUT_MS = 600_000;

export const collectorBench: Bench = {
  name: 'collector',
  about: `what collecting costs at ${EVENTS_PER_SECOND.toLocaleString('en-US')} events a second, and whether the books are right`,
  rows: [1_000_000],
  async run({ server, databases, rows: [rows = 0] }) {
    const { name } = await databases.filled(publishedAtFilling, rows);
    await server.query(name, 'GRANT INSERT, UPDATE ON outbox_events TO service');
    const storeUrl = server.superuserUrl(await databases.empty('collected'));
    const migrated = await migrateStore(storeUrl);
    if (!migrated.ok) throw new Error(migrated.detail);
    const store = openStore(storeUrl);
    const errors: string[] = [];
    const collecting = collect(server.url(name, 'collector'), publishedAtFilling.shape, publishedAtFilling.table, store, (error) =>
      errors.push(String(error)),
    );
    let traffic: Traffic | null = null;
    try {
      const pastMs = await untilPastIsRead(store);
      const past = await countersOf(server, name, 'collector');
      traffic = startTraffic({ url: server.url(name, 'service'), perSecond: EVENTS_PER_SECOND, tickMs: 20 });
      await sleep(WARM_MS);
      const statements = await statementsOf(server, name, 'collector');
      const before = {
        counters: await countersOf(server, name, 'collector'),
        at: performance.now(),
        published: (await traffic.report()).published,
      };
      const lags = await lagsDuring(store, MEASURED_MS);
      const after = {
        counters: await countersOf(server, name, 'collector'),
        at: performance.now(),
        published: (await traffic.report()).published,
      };
      const dearest = await dearestStatements(server, name, 'collector', statements);
      await traffic.stop();
      traffic = null;
      await untilFolded(store, Date.now());
      await sleep(SETTLE_MS);
      const [truth] = await server.query<{ n: string }>(name, 'SELECT count(*) AS n FROM outbox_events WHERE published_at IS NOT NULL');
      const booked = await eventsInBooks(store);
      const cost = difference(before.counters, after.counters);
      const seconds = (after.at - before.at) / 1_000;
      const events = after.published - before.published;
      return {
        tables: [
          {
            title: 'Collecting',
            columns: [
              '',
              'seconds',
              'events',
              'statements',
              'rows answered',
              'buffers',
              'per event',
              'ms in statements',
              'ms of a processor',
              '% of a core',
            ],
            rows: [
              ['steady', seconds, events, ...cells(cost, events), (coreShare(cost, seconds) ?? NaN) * 100],
              ['reading the past of the table first', pastMs / 1_000, rows, ...cells(past, rows), ((past.cpuMs ?? past.ms) / pastMs) * 100],
            ],
          },
          {
            title: 'Where the pages go',
            columns: ['statement', 'executions', 'buffers', 'ms in statements'],
            rows: dearest
              .slice(0, STATEMENTS_SHOWN)
              .map(({ text, calls, buffers, ms }) => [text.slice(0, 160).replaceAll('|', ' '), calls, buffers, ms]),
          },
          {
            title: 'How far the books are behind',
            columns: ['seconds behind, p50', 'p95', 'most'],
            rows: [[quantile(lags, 0.5), quantile(lags, 0.95), Math.max(...lags)]],
          },
          {
            title: 'The books against the table',
            columns: ['published', 'in the books', 'difference'],
            rows: [[Number(truth?.n), booked, booked - Number(truth?.n)]],
          },
        ],
        budgets: budgets(cost, seconds, events, Math.max(...lags), Math.abs(booked - Number(truth?.n))),
        notes: [
          `A service and a relay in another process write and publish ${EVENTS_PER_SECOND} events a second into a published-at table of ${short(rows)} rows, in batches; the collector looks every 5 s.`,
          "Statements, buffers and their time are counted by the server (pg_stat_statements, planning included); the processor time is that of the collector's server process (/proc), on Linux only.",
          ...errors.slice(0, 3),
        ],
      };
    } finally {
      await traffic?.stop();
      await collecting.stop();
      await store.close();
      // It has grown, and its history is no longer of thirty days.
      await databases.drop(name);
    }
  },
};

/** How far the books were behind, in seconds, second by second. */
async function lagsDuring(store: Store, milliseconds: number): Promise<number[]> {
  const lags: number[] = [];
  for (const until = Date.now() + milliseconds; Date.now() < until;) {
    const progress = await collectedUpTo(store);
    if (progress !== null) lags.push((Date.now() - Date.parse(progress.foldedTo)) / 1_000);
    await sleep(Math.min(1_000, Math.max(0, until - Date.now())));
  }
  return lags;
}

/** What is not folded after five minutes is missing. */
async function untilFolded(store: Store, at: number): Promise<void> {
  for (const until = Date.now() + FOLD_TIMEOUT_MS; Date.now() < until; await sleep(500)) {
    const progress = await collectedUpTo(store);
    if (progress !== null && progress.whole && Date.parse(progress.foldedTo) > at) return;
  }
}

async function untilPastIsRead(store: Store): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < PAST_TIMEOUT_MS) {
    if ((await collectedUpTo(store))?.whole === true) return performance.now() - begun;
    await sleep(200);
  }
  throw new Error(`The past was not read within ${PAST_TIMEOUT_MS / 1_000} s`);
}

const cells = ({ calls, rows, buffers, ms, cpuMs }: Counters, events: number): (number | null)[] => [
  calls,
  rows,
  buffers,
  buffers / events,
  ms,
  cpuMs,
];

/** Share of one core: the processor's time where it is known, else that of statements, which holds their waiting for a processor too. */
const coreShare = ({ cpuMs, ms }: Counters, seconds: number): number => (cpuMs ?? ms) / 1_000 / seconds;

function budgets(cost: Counters, seconds: number, events: number, lag: number, difference: number): Budget[] {
  const promise = (name: string, measured: number, limit: number, unit: string): Budget => ({ name, promise: name, measured, limit, unit });
  return [
    promise(`${EVENTS_PER_SECOND} events a second: time of a processor`, coreShare(cost, seconds) * 100, CORE_SHARE * 100, '% of a core'),
    promise(`${EVENTS_PER_SECOND} events a second: pages`, cost.buffers / events, BUFFERS_PER_EVENT, 'buffers per event'),
    {
      name: 'events a second reached',
      promise: 'the rate was reached',
      measured: events / seconds,
      limit: EVENTS_PER_SECOND * 0.95,
      rule: '>=',
      unit: 'events/s',
    },
    promise('furthest that the books are behind', lag, LAG_SECONDS, 's'),
    promise('events missing or counted twice', difference, 0, 'events'),
  ];
}
