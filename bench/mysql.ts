import { DatabaseFailure } from '@/lib/database/failure';
import { NotComputed, computeInStore } from '@/lib/live/take-reading';
import type { Outbox } from '@/lib/outbox/outbox';
import { migrateStore, openStore } from '@/lib/store/store';
import type { Bench } from './bench';
import { loadWorkerStatus, WORKER_DDL, WORKER_TABLE } from './fillings/worker-status-mysql';
import { BOOKS_BEHIND_SECONDS, doctorsAdvice, openDirectory, OUTBOX_ID, PAGE_ROWS } from './product';
import { DEEP_PAGE, READS, type Read, type Spot, type Spots } from './reads';
import { median, short } from './support/figures';
import { handledDuring, startMysqlBenchServer, type Handled, type MysqlBenchServer } from './support/mysql-server';
import { repeated, RUNS } from './support/repeated';
import type { Budget, Cell, Table } from './support/report';

/** What this table has no column or state for. */
const ABSENT = ['one aggregate', 'dead, page 1', 'dead by error text', 'dead by cause'];
const READ_HERE = READS.filter(({ name }) => !ABSENT.includes(name));

/** How events are counted without the console: the whole table for each question. */
const COUNT = `select count(*) from ${WORKER_TABLE} where status = 'PENDING'`;

type When = 'before' | 'after';

interface Measured {
  read: string;
  kind: Read['kind'] | 'count';
  rows: number;
  when: When;
  /** null when the statement ran into its own limit of time. */
  handled: Handled | null;
}

interface Built {
  check: string;
  rows: number;
  seconds: number;
}

/**
 * Of a table with the advised indexes: rows handed over, and pages touched. A row is handed over up to four times: found in
 * the index, fetched, sorted with those of other states, answered; each costs the pages from the root down.
 */
const LIMITS: Partial<Record<Read['kind'], Handled>> = {
  reading: { rows: 1_500, pages: 4_000 },
  oldest: { rows: 60, pages: 60 },
  'open page': { rows: 500, pages: 700 },
  page: { rows: 1_000, pages: 700 },
};
const READING_GROWTH = 1.5;

export const mysqlBench: Bench = {
  name: 'mysql',
  about: 'the same reads on MariaDB, before and after the statements the doctor prints are run, in rows and pages touched',
  rows: [1_000_000, 10_000_000],
  async run({ server, databases, rows, dir }) {
    const storeUrl = server.superuserUrl(await databases.empty('mysql_store'));
    await migrateStore(storeUrl);
    const store = openStore(storeUrl);
    const observed = await startMysqlBenchServer(dir);
    const measured: Measured[] = [];
    const built: Built[] = [];
    const left: string[] = [];
    try {
      for (const size of rows) {
        const database = await fill(observed, size);
        const directory = openDirectory(observed.url(database), 'worker-status', WORKER_TABLE);
        try {
          const look = async (when: When): Promise<void> => {
            const outbox = await directory.get(OUTBOX_ID);
            const spots = { ...(await findSpots(observed, database, outbox)), compute: computeInStore(store) };
            const count = await repeated(() => handledDuring(observed, () => observed.query(database, COUNT)));
            measured.push({ read: 'count pending, by hand', kind: 'count', rows: size, when, handled: middle(count) });
            for (const { name, kind, run } of READ_HERE)
              measured.push({ read: name, kind, rows: size, when, handled: await measure(observed, () => run(outbox, spots)) });
          };
          await look('before');
          for (const { check, sql } of (await doctorsAdvice(await directory.get(OUTBOX_ID))).indexes) {
            const begun = Date.now();
            for (const statement of sql.split('\n')) await observed.query(database, statement);
            built.push({ check, rows: size, seconds: (Date.now() - begun) / 1_000 });
          }
          await observed.query(database, `analyze table ${WORKER_TABLE}`);
          directory.forget(OUTBOX_ID);
          await look('after');
          const { checks } = await doctorsAdvice(await directory.get(OUTBOX_ID));
          left.push(...checks.filter((check) => check.startsWith('index_')));
        } finally {
          await directory.close();
        }
        await observed.query(null, `drop database ${database}`);
      }
    } finally {
      await observed.stop();
      await store.close();
    }
    return {
      tables: [...(['before', 'after'] as const).map((when) => readsTable(measured, rows, when)), builtTable(built)],
      budgets: budgets(measured, rows, left),
      observed: observed.version,
      notes: [
        `The buffer pool is a quarter of the memory and 2 GB at the most. The table is worker-status as it ships: keys that count up, one status column, no index but the key.`,
        `Rows are index entries and rows the storage engine handed over, of tables and of what a statement makes on the way (Handler_read); pages are of 16 kB (Innodb_buffer_pool_read_requests); median of ${RUNS} runs with warm memory, nobody else on the server.`,
        'The reading hands its rows to the console’s store, which computes the figures: what that takes there is not in these tables.',
      ],
    };
  },
};

async function fill(server: MysqlBenchServer, rows: number): Promise<string> {
  const database = `worker_${rows}`;
  const begun = Date.now();
  process.stderr.write(`filling worker-status on ${server.version} with ${rows.toLocaleString('en-US')} rows … `);
  await server.query(null, `create database ${database}`);
  for (const statement of WORKER_DDL) await server.query(database, statement);
  const endsAt = new Date(begun).toISOString().slice(0, 19).replace('T', ' ');
  for (const statement of loadWorkerStatus(rows, endsAt)) await server.query(database, statement);
  await server.query(database, `analyze table ${WORKER_TABLE}`);
  process.stderr.write(`${Math.round((Date.now() - begun) / 1_000)} s\n`);
  return database;
}

/** The rows that page 2,000 begins after, found with a statement of our own; this outbox is listed by its key. */
async function findSpots(server: MysqlBenchServer, database: string, outbox: Outbox): Promise<Spots> {
  const spot = async (direction: 'asc' | 'desc'): Promise<Spot> => {
    const [row] = await server.query<{ id: string; at: string }>(
      database,
      `select cast(id as char) as id, cast(created_at as char) as at from ${WORKER_TABLE} order by id ${direction} limit 1 offset ${(DEEP_PAGE - 1) * PAGE_ROWS - 1}`,
    );
    if (row === undefined) throw new Error(`${database} has no page ${DEEP_PAGE}`);
    return { key: row.at, id: row.id, aggregate: null };
  };
  const [newest] = await server.query<{ at: string }>(database, `select max(processed_at) as at from ${WORKER_TABLE}`);
  const published = Date.parse(`${(newest?.at ?? '').replace(' ', 'T')}Z`);
  if (Number.isNaN(published)) throw new Error(`nothing is published in ${outbox.id}`);
  return {
    foldedTo: new Date(published - BOOKS_BEHIND_SECONDS * 1_000).toISOString(),
    deepNewest: await spot('desc'),
    deepOldest: await spot('asc'),
  };
}

async function measure(server: MysqlBenchServer, work: () => Promise<unknown>): Promise<Handled | null> {
  try {
    return middle(await repeated(() => handledDuring(server, work)));
  } catch (error) {
    if ((error instanceof DatabaseFailure && error.code === 'timeout') || error instanceof NotComputed) return null;
    throw error;
  }
}

const middle = (runs: readonly Handled[]): Handled => ({
  rows: median(runs.map(({ rows }) => rows)),
  pages: median(runs.map(({ pages }) => pages)),
});

const TITLES: Record<When, string> = { before: 'As it ships', after: 'With the indexes the doctor advises' };

function readsTable(measured: readonly Measured[], rows: readonly number[], when: When): Table {
  const here = measured.filter((one) => one.when === when);
  return {
    title: TITLES[when],
    columns: ['read', ...rows.flatMap((size) => [`rows ${short(size)}`, `pages ${short(size)}`])],
    rows: [...new Set(here.map(({ read }) => read))].map((read) => [
      read,
      ...rows.flatMap((size): Cell[] => {
        const handled = here.find((one) => one.read === read && one.rows === size)?.handled;
        return [handled?.rows ?? null, handled?.pages ?? null];
      }),
    ]),
  };
}

function builtTable(built: readonly Built[]): Table {
  return {
    title: 'What the advice cost',
    columns: ['advice', 'rows', 'built in s'],
    rows: built.map(({ check, rows, seconds }) => [check, short(rows), seconds]),
  };
}

function budgets(measured: readonly Measured[], rows: readonly number[], left: readonly string[]): Budget[] {
  const after = measured.filter(({ when }) => when === 'after');
  const lines = after.flatMap(({ read, kind, rows: size, handled }): Budget[] => {
    const limit = kind === 'count' ? undefined : LIMITS[kind];
    return limit === undefined
      ? []
      : (['rows', 'pages'] as const).map((unit) => ({
          name: `${read}, ${short(size)}: ${unit}`,
          promise: `${PROMISED[kind] ?? kind}: ${unit}`,
          measured: handled?.[unit] ?? null,
          limit: limit[unit],
          unit,
        }));
  });
  lines.push({
    name: 'index findings left',
    promise: 'index findings left after the advice',
    measured: left.length,
    limit: 0,
    unit: 'findings',
  });
  const readings = after.filter(({ kind }) => kind === 'reading').map(({ handled }) => handled?.rows ?? null);
  const [small, large] = [readings[0] ?? null, readings.at(-1) ?? null];
  if (rows.length > 1)
    lines.push({
      name: 'live reading, largest table ÷ smallest',
      promise: 'live reading, largest table ÷ smallest',
      measured: small === null || large === null ? null : large / small,
      limit: READING_GROWTH,
      unit: '×',
    });
  return lines;
}

const PROMISED: Partial<Record<Measured['kind'], string>> = {
  reading: 'live reading with 700 waiting',
  oldest: 'oldest waiting',
  'open page': 'any page of waiting events',
  page: 'any page of a list',
};
