import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrateStore, openStore } from '@/lib/store/store';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { liveReading, openDirectory, openScreens, OUTBOX_ID } from './product';
import { countersOf, difference, type Counters } from './support/counters';
import type { Databases } from './support/databases';
import { median, short } from './support/figures';
import { foldedTo } from './support/folded-to';
import type { Table } from './support/report';
import type { BenchServer } from './support/server';
import { IDLE_OUTBOXES, measureIdle } from './watching/idle';

const RUNS = 30;
const READING_MS = 6;
const CALLED_MS = 20_000;
const CALLERS = 50;
const CALLERS_RATIO = 1.5;
const IDLE_WAYS = 2;

/** What depth, ages and counts take as a person would ask for them. */
const PLAIN = [
  'SELECT count(*) FROM outbox_events WHERE published_at IS NULL AND attempt = 0',
  'SELECT count(*) FROM outbox_events WHERE published_at IS NULL AND attempt > 0',
  'SELECT count(*) FROM outbox_dead',
  'SELECT min(created_at) FROM outbox_events WHERE published_at IS NULL',
  'SELECT max(published_at) FROM outbox_events',
  'SELECT event_type, count(*), min(created_at) FROM outbox_events WHERE published_at IS NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 50',
  'SELECT event_type, count(*), max(died_at) FROM outbox_dead GROUP BY 1 ORDER BY 2 DESC LIMIT 50',
  "SELECT date_trunc('minute', created_at), count(*) FROM outbox_events WHERE published_at IS NULL GROUP BY 1",
];

export const watchingBench: Bench = {
  name: 'watching',
  about: 'what a reading, callers by HTTP and outboxes in which nothing happens cost the server',
  rows: [1_000_000],
  async run({ server, databases, rows: [rows = 0], dir }) {
    const { name } = await databases.filled(publishedAtFilling, rows);
    const [reading, plain] = await measureReading(server, name);
    const one = await measureCallers(server, databases, name, 1);
    const many = await measureCallers(server, databases, name, CALLERS);
    const idle = await measureIdle(server, databases, dir);
    return {
      tables: [
        {
          title: 'A reading beside plain statements',
          columns: ['asked', 'statements', 'server ms', 'buffers'],
          rows: [
            ['a reading: every figure of an outbox now', reading.calls, reading.ms, reading.buffers],
            [`${String(PLAIN.length)} plain statements: depth, ages and counts`, plain.calls, plain.ms, plain.buffers],
          ],
        },
        callersTable(one, many),
        {
          title: 'Outboxes in which nothing happens',
          columns: ['server', 'outboxes', 'statements a second each', 'ways there and back a second each'],
          rows: idle.map((one) => [one.server, IDLE_OUTBOXES, one.statements, one.ways]),
        },
      ],
      budgets: [
        {
          promise: 'server time of a reading',
          name: 'server time of a reading, planning included',
          measured: reading.ms,
          limit: READING_MS,
          unit: 'ms',
        },
        ...(['calls', 'buffers'] as const).map((what) => ({
          promise: 'fifty callers a second ÷ one',
          name: `${what === 'calls' ? 'statements' : 'buffers'} of ${String(CALLERS)} callers a second ÷ those of one`,
          measured: many[what] / one[what],
          limit: CALLERS_RATIO,
          unit: '×',
        })),
        ...idle.map((one) => ({
          promise: 'ways there and back of an idle outbox, a second',
          name: `${one.server}: ways there and back of an idle outbox, a second`,
          measured: one.ways,
          limit: IDLE_WAYS,
          unit: 'ways',
        })),
      ],
      notes: [
        `A published-at table of ${short(rows)} rows, 700 of them waiting; server ms are planning and executing of all statements of a transaction (pg_stat_statements), the median of ${String(RUNS)} runs.`,
        `Callers ask for a summary, each once a second at a moment of its own, for ${String(CALLED_MS / 1_000)} s.`,
        `${String(IDLE_OUTBOXES)} outboxes on one server, with readings for one fleet screen, collector and carrier. A way there and back is one in which the console says something after the server has answered, on any of its connections.`,
      ],
    };
  },
};

type Cost = Pick<Counters, 'calls' | 'ms' | 'buffers'>;

async function measureReading(server: BenchServer, database: string): Promise<[Cost, Cost]> {
  const directory = openDirectory(server.url(database, 'fleet'), publishedAtFilling.shape, publishedAtFilling.table);
  const plain = new pg.Client({ connectionString: server.url(database, 'fleet') });
  await plain.connect();
  try {
    const outbox = await directory.get(OUTBOX_ID);
    const at = await foldedTo(server, database, outbox);
    const reading = await costOf(server, database, () => liveReading(outbox, at));
    const asked = await costOf(server, database, async () => {
      for (const statement of PLAIN) await plain.query(statement);
    });
    return [reading, asked];
  } finally {
    await plain.end();
    await directory.close();
  }
}

/** The median of several runs, after one that warms memory and connection. */
async function costOf(server: BenchServer, database: string, work: () => Promise<unknown>): Promise<Cost> {
  const costs: Counters[] = [];
  await work();
  for (let run = 0; run < RUNS; run += 1) {
    const before = await countersOf(server, database, 'fleet');
    await work();
    costs.push(difference(before, await countersOf(server, database, 'fleet')));
  }
  const of = (name: keyof Cost): number => median(costs.map((cost) => cost[name]));
  return { calls: of('calls'), ms: of('ms'), buffers: of('buffers') };
}

async function measureCallers(server: BenchServer, databases: Databases, database: string, callers: number): Promise<Cost> {
  const storeUrl = server.superuserUrl(await databases.empty('called'));
  const migrated = await migrateStore(storeUrl);
  if (!migrated.ok) throw new Error(migrated.detail);
  const store = openStore(storeUrl);
  const directory = openDirectory(server.url(database, 'fleet'), publishedAtFilling.shape, publishedAtFilling.table);
  const screens = openScreens(directory, store);
  try {
    await screens.call();
    const before = await countersOf(server, database, 'fleet');
    const until = Date.now() + CALLED_MS;
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        await sleep((caller * 1_000) / callers);
        while (Date.now() < until) {
          const next = Date.now() + 1_000;
          await screens.call();
          await sleep(Math.max(0, next - Date.now()));
        }
      }),
    );
    return difference(before, await countersOf(server, database, 'fleet'));
  } finally {
    await directory.close();
    await store.close();
  }
}

function callersTable(one: Cost, many: Cost): Table {
  return {
    title: 'Callers by HTTP',
    columns: ['callers a second', 'statements', 'buffers', 'server ms'],
    rows: [
      [1, one.calls, one.buffers, one.ms],
      [CALLERS, many.calls, many.buffers, many.ms],
    ],
  };
}
