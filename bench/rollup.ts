import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { ALL_SERIES, historyPercentiles, historySeries, seriesNamed } from './product';
import { foldIntoBooks } from './support/books';
import { median, short } from './support/figures';
import { executedDuring } from './support/plans';
import type { Budget, Table } from './support/report';
import type { BenchServer } from './support/server';

const ROLLUP_ROWS = 1_440;
const BUFFERS = 1_000;
const SERVER_MS = 25;
const ERROR_PERCENT = 1.6;

const WINDOW_MINUTES = 30 * 1_440;
const RUNS = 7;
const FRACTIONS = [0.5, 0.95, 0.99] as const;
const DRAWN_ROWS = 1_000_000;
const TYPE = 'type.03';

/** What latencies look like: as the tables are filled, and the shapes that histograms are bad at. */
interface Data {
  outbox: string;
  label: string;
  url: string;
  /** With `published`, `latency` in ms and `type`. */
  query: string;
}

const drawn = (latencyMs: string): string =>
  `SELECT date_trunc('minute', now()) - interval '30 days' * (i::float8 / ${DRAWN_ROWS}) AS published, ${latencyMs} AS latency, 'type.0' || i % 5 AS type FROM generate_series(1, ${DRAWN_ROWS}) AS i`;
const DRAWN: Record<string, string> = {
  constant: '250::float8',
  bimodal: 'CASE WHEN (i / 5) % 5 < 3 THEN 20 + i % 7 ELSE 8000 + i % 900 END::float8',
  empty: 'NULL::float8',
};

interface Measured {
  data: Data;
  read: string;
  /** A line over the window rather than its sum. */
  line: boolean;
  rollupRows: number | null;
  buffers: number;
  serverMs: number;
  wallMs: number;
}

export const rollupBench: Bench = {
  name: 'rollup',
  about: 'percentiles of thirty days, from the books instead of the table',
  rows: [1_000_000, 10_000_000],
  async run({ server, databases, rows }) {
    const storeDatabase = await databases.empty('books');
    const storeUrl = server.superuserUrl(storeDatabase);
    const migrated = await migrateStore(storeUrl);
    if (!migrated.ok) throw new Error(migrated.detail);
    const writer = openStore(storeUrl);
    const reader = openStore(server.url(storeDatabase, 'console'));
    const toMinute = Math.floor(Date.now() / 60_000);
    const fromMinute = toMinute - WINDOW_MINUTES;
    const all: Data[] = [];
    const fromTable: Table['rows'] = [];
    try {
      for (const size of rows) {
        const { name } = await databases.filled(publishedAtFilling, size);
        const query = `SELECT published_at AS published, date_part('epoch', published_at - created_at) * 1000 AS latency, event_type AS type FROM outbox_events WHERE published_at IS NOT NULL`;
        all.push({ outbox: `heavy-tail-${size}`, label: `heavy tail, ${short(size)} rows`, url: server.superuserUrl(name), query });
        fromTable.push(await percentilesOfTable(server, name, size));
      }
      await makeDrawn(server, storeDatabase);
      for (const kind of Object.keys(DRAWN))
        all.push({
          outbox: kind,
          label: `${kind}, ${short(DRAWN_ROWS)} rows`,
          url: storeUrl,
          query: `SELECT published, latency, type FROM ${kind}_latencies WHERE latency IS NOT NULL`,
        });
      const measured: Measured[] = [];
      const errors: { data: Data; series: string; exact: (number | null)[]; told: (number | null)[] }[] = [];
      for (const data of all) {
        await foldIntoBooks(writer, data.outbox, data, fromMinute, toMinute);
        for (const series of [ALL_SERIES, seriesNamed(TYPE)]) {
          const told = await historyPercentiles(reader, data.outbox, series, fromMinute, toMinute, FRACTIONS);
          errors.push({ data, series, exact: await exactly(server, data, series, fromMinute, toMinute), told: told.percentiles });
        }
      }
      await server.query(storeDatabase, 'VACUUM (ANALYZE)');
      for (const data of all) measured.push(...(await measureReads(server, reader, data, fromMinute, toMinute)));
      return {
        tables: [costTable(measured), errorTable(errors), tableTable(fromTable)],
        budgets: [...costBudgets(measured), ...errorBudgets(errors)],
        notes: [
          `ms in the database is the executor's, ms in all is from the call to the percentiles, driver, decoding and merging in Node included; medians of ${RUNS}.`,
          'Errors are against percentile_cont over the very rows that were folded.',
        ],
      };
    } finally {
      await Promise.all([writer.close(), reader.close()]);
    }
  },
};

async function makeDrawn(server: BenchServer, database: string): Promise<void> {
  for (const [kind, latency] of Object.entries(DRAWN)) await server.query(database, `CREATE TABLE ${kind}_latencies AS ${drawn(latency)}`);
}

async function exactly(server: BenchServer, data: Data, series: string, fromMinute: number, toMinute: number): Promise<(number | null)[]> {
  const database = new URL(data.url).pathname.slice(1);
  const [row] = await server.query<{ exact: number[] | null }>(
    database,
    `SELECT percentile_cont(ARRAY[${FRACTIONS.join(', ')}]::float8[]) WITHIN GROUP (ORDER BY latency) AS exact FROM (${data.query}) AS event
      WHERE published >= to_timestamp(${fromMinute * 60}) AND published < to_timestamp(${toMinute * 60}) ${series === ALL_SERIES ? '' : `AND type = '${TYPE}'`}`,
  );
  return row?.exact ?? FRACTIONS.map(() => null);
}

async function measureReads(server: BenchServer, store: Store, data: Data, fromMinute: number, toMinute: number): Promise<Measured[]> {
  const reads: [string, () => Promise<number | null>][] = [ALL_SERIES, seriesNamed(TYPE)].flatMap(
    (series): [string, () => Promise<number | null>][] => {
      const label = series === ALL_SERIES ? 'all types' : 'one type';
      return [
        [
          `percentiles, ${label}`,
          async () => (await historyPercentiles(store, data.outbox, series, fromMinute, toMinute, FRACTIONS)).rollupRows,
        ],
        [
          `series of percentiles, ${label}`,
          async () => {
            await historySeries(store, data.outbox, series, fromMinute, toMinute, FRACTIONS);
            return null;
          },
        ],
      ];
    },
  );
  const measured: Measured[] = [];
  for (const [read, work] of reads) {
    let rollupRows = await work();
    const wall: number[] = [];
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) {
      const executed = await executedDuring(server, ['console'], async () => {
        const begun = performance.now();
        await work();
        wall.push(performance.now() - begun);
      });
      rollupRows ??= executed.reduce((rows, { plan }) => rows + plan['Actual Rows'] * plan['Actual Loops'], 0);
      runs.push(executed);
    }
    measured.push({
      data,
      read,
      line: read.startsWith('series'),
      rollupRows,
      buffers: median(runs.map((run) => run.reduce((sum, one) => sum + one.buffers, 0))),
      serverMs: median(runs.map((run) => run.reduce((sum, one) => sum + one.ms, 0))),
      wallMs: median(wall),
    });
  }
  return measured;
}

/** What the same percentiles cost when they are asked of the table. */
async function percentilesOfTable(server: BenchServer, database: string, size: number): Promise<Table['rows'][number]> {
  const statement = `SELECT percentile_cont(ARRAY[${FRACTIONS.join(', ')}]) WITHIN GROUP (ORDER BY date_part('epoch', published_at - created_at)) FROM outbox_events WHERE published_at >= now() - interval '30 days'`;
  const runs = [];
  for (let run = 0; run < 3; run += 1) runs.push(...(await executedDuring(server, ['naive'], () => asNaive(server, database, statement))));
  return [short(size), median(runs.map(({ buffers }) => buffers)), median(runs.map(({ ms }) => ms))];
}

async function asNaive(server: BenchServer, database: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url(database, 'naive'), application_name: 'naive' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function costTable(measured: Measured[]): Table {
  return {
    title: 'Thirty days from the books',
    columns: ['data', 'read', 'slices read', 'buffers', 'ms in the database', 'ms in all'],
    rows: measured.map(({ data, read, rollupRows, buffers, serverMs, wallMs }) => [
      data.label,
      read,
      rollupRows,
      buffers,
      serverMs,
      wallMs,
    ]),
  };
}

interface Accuracy {
  data: Data;
  series: string;
  exact: (number | null)[];
  told: (number | null)[];
}

/** Per cent of the true value; 0 where both say that there is none, null where only one does. */
function offPercent(exact: number | null | undefined, told: number | null | undefined): number | null {
  if (exact == null || told == null) return exact == null && told == null ? 0 : null;
  return (Math.abs(told - exact) / exact) * 100;
}

function errorTable(errors: Accuracy[]): Table {
  return {
    title: 'Against percentile_cont over the same rows',
    columns: ['data', 'series', ...FRACTIONS.flatMap((f) => [`p${f * 100} exact ms`, 'told ms', 'off %'])],
    rows: errors.map(({ data, series, exact, told }) => [
      data.label,
      series === ALL_SERIES ? 'all types' : 'one type',
      ...FRACTIONS.flatMap((_, at) => [exact[at] ?? null, told[at] ?? null, offPercent(exact[at], told[at])]),
    ]),
  };
}

const tableTable = (rows: Table['rows']): Table => ({
  title: 'The same percentiles from the table, by its index on (published_at, created_at)',
  columns: ['rows', 'buffers', 'ms'],
  rows,
});

function costBudgets(measured: Measured[]): Budget[] {
  return measured.flatMap(({ data, read, line, rollupRows, buffers, serverMs }): Budget[] => {
    const name = (what: string): string => `${data.label}: ${read}, ${what}`;
    return [
      // A line of a chart reads the slices of all types beside those of its own, to tell a gap from silence.
      ...(line
        ? []
        : [
            { name: name('slices'), promise: '30 days of one series, slices read', measured: rollupRows, limit: ROLLUP_ROWS, unit: 'rows' },
          ]),
      { name: name('pages'), promise: '30 days of one series, pages', measured: buffers, limit: BUFFERS, unit: 'buffers' },
      { name: name('time'), promise: '30 days of one series, time in the server', measured: serverMs, limit: SERVER_MS, unit: 'ms' },
    ];
  });
}

function errorBudgets(errors: Accuracy[]): Budget[] {
  return errors.map(({ data, series, exact, told }) => {
    const off = FRACTIONS.map((_, at) => offPercent(exact[at], told[at]));
    return {
      name: `${data.label}: ${series === ALL_SERIES ? 'all types' : 'one type'}, p50, p95 and p99`,
      promise: 'p50, p95 and p99 against percentile_cont',
      measured: off.some((one) => one === null) ? null : Math.max(...off.map((one) => one ?? 0)),
      limit: ERROR_PERCENT,
      unit: '% off',
    };
  });
}
