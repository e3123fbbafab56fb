import pg from 'pg';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Bench } from './bench';
import { escrowStatusFilling } from './fillings/escrow-status';
import { doctorsAdvice, liveReading, openDirectory, OUTBOX_ID, type Advice } from './product';
import type { Databases } from './support/databases';
import { median, short } from './support/figures';
import { foldedTo } from './support/folded-to';
import { buffersOf, executedDuring, partsOf, scansOfIndexes, type Executed } from './support/plans';
import { repeated, RUNS } from './support/repeated';
import type { Budget, Table } from './support/report';
import type { BenchServer } from './support/server';

const TABLE = escrowStatusFilling.table;
const DEPTH_LIMIT = 200;
/** Catalogue and statistics, and a few looks at rows: far less than reading the table once. */
const EXAMINATION_LIMIT = 6_000;

/** How many events wait, are being processed and are dead, counted as any dashboard counts them, up to 10,000. */
const COUNTS = ['pending', 'processing', 'failed'].map((status) => ({
  name: `count ${status}`,
  sql: `SELECT count(*) FROM (SELECT FROM ${TABLE} WHERE status = '${status}' LIMIT 10001) AS counted`,
}));
/** What the product's own reading counts with, once there are the indexes; its rows of dead events are measured by the bench live. */
const DEPTH = { indexes: ['index_waiting', 'index_processing'], part: 'dead_counted' };

interface Measured {
  rows: number;
  when: 'before' | 'after';
  counts: Map<string, number>;
  /** Of the product's live reading: its depth, and all of it. */
  depth: number | null;
  reading: number;
  examination: { buffers: number; ms: number };
}

interface Applied extends Advice {
  rows: number;
  seconds: number;
  bytes: number;
}

export const doctorBench: Bench = {
  name: 'doctor',
  about: 'a table without indexes, before and after the statements the doctor prints are run, in pages touched',
  rows: [1_000_000, 10_000_000],
  async run({ server, databases, rows }) {
    const measured: Measured[] = [];
    const applied: Applied[] = [];
    const left: string[] = [];
    for (const size of rows) {
      const found = await measureSize(server, databases, size);
      measured.push(...found.measured);
      applied.push(...found.applied);
      left.push(...found.left);
    }
    return {
      tables: [depthTable(measured, rows), adviceTable(applied)],
      budgets: budgets(measured, rows, left),
      notes: [
        'The table is escrow-status as its design has it: random keys, one status column, no index but the key.',
        `Buffers are pages of 8 kB touched, written down by the server (auto_explain), median of ${RUNS} runs with warm memory. "counts" are three capped counts by status, the same text before and after; "depth in the reading" is what the product's own live reading counts with. Without indexes that reading stops after 200,000 rows and says so.`,
        'The statements are run as the doctor prints them, CONCURRENTLY, one after the other.',
      ],
    };
  },
};

async function measureSize(
  server: BenchServer,
  databases: Databases,
  size: number,
): Promise<{ measured: Measured[]; applied: Applied[]; left: string[] }> {
  const { name } = await databases.filled(escrowStatusFilling, size);
  const directory = openDirectory(server.url(name, 'console'), escrowStatusFilling.shape, TABLE);
  const applied: Applied[] = [];
  try {
    const before = await measure(server, name, await directory.get(OUTBOX_ID), size, null);
    for (const advice of (await doctorsAdvice(await directory.get(OUTBOX_ID))).indexes) {
      const begun = Date.now();
      for (const statement of advice.sql.split('\n')) await server.query(name, statement);
      applied.push({ ...advice, rows: size, seconds: (Date.now() - begun) / 1_000, bytes: await bytesOf(server, name, advice.sql) });
    }
    directory.forget(OUTBOX_ID);
    const outbox = await directory.get(OUTBOX_ID);
    const after = await measure(server, name, outbox, size, applied);
    const left = (await doctorsAdvice(outbox)).checks.filter((check) => check.startsWith('index_'));
    return { measured: [before, after], applied, left };
  } finally {
    await directory.close();
    // Whoever measures this table next finds it as it was shipped.
    for (const { sql } of applied) await server.query(name, `DROP INDEX ${schemaOf()}${nameIn(sql)}`);
  }
}

const schemaOf = (): string => /^\w+\./.exec(TABLE)?.[0] ?? '';
const nameIn = (sql: string): string => /INDEX CONCURRENTLY ("[^"]+")/.exec(sql)?.[1] ?? '';

async function bytesOf(server: BenchServer, database: string, sql: string): Promise<number> {
  const [row] = await server.query<{ bytes: string }>(database, `SELECT pg_relation_size('${schemaOf()}${nameIn(sql)}') AS bytes`);
  return Number(row?.bytes ?? 0);
}

/** Pages touched to count what waits, is processed and is dead; null where that is not read along the advised indexes. */
function depthOf(executed: readonly Executed[], advised: readonly Advice[]): number | null {
  const indexes = advised.filter(({ check }) => DEPTH.indexes.includes(check)).map(({ sql }) => nameIn(sql).replaceAll('"', ''));
  const reads = executed.flatMap(({ plan }) => scansOfIndexes(plan, indexes));
  const counted = executed.flatMap(({ plan }) => partsOf(plan).get(DEPTH.part) ?? []);
  const found = [...reads.map(buffersOf), ...counted.map(({ buffers }) => buffers)];
  return reads.length < indexes.length || indexes.length === 0 || counted.length === 0 ? null : found.reduce((sum, one) => sum + one, 0);
}

async function measure(
  server: BenchServer,
  database: string,
  outbox: Outbox,
  rows: number,
  advised: readonly Advice[] | null,
): Promise<Measured> {
  const counts = new Map<string, number>();
  for (const { name, sql } of COUNTS) counts.set(name, await naively(server, database, sql));
  const since = await foldedTo(server, database, outbox);
  const runs = await repeated(() => executedDuring(server, ['console'], () => liveReading(outbox, since)));
  const begun = Date.now();
  const examined = await executedDuring(server, ['console'], () => doctorsAdvice(outbox));
  const ms = Date.now() - begun;
  return {
    rows,
    when: advised === null ? 'before' : 'after',
    counts,
    depth: depthOf(runs.at(-1) ?? [], advised ?? []),
    reading: median(runs.map((run) => run.reduce((sum, { buffers }) => sum + buffers, 0))),
    examination: { buffers: examined.reduce((sum, { buffers }) => sum + buffers, 0), ms },
  };
}

async function naively(server: BenchServer, database: string, sql: string): Promise<number> {
  const runs = await repeated(() => executedDuring(server, ['naive'], () => queryAs(server, database, sql)));
  return median(runs.map((run) => run.reduce((sum, { buffers }) => sum + buffers, 0)));
}

/** As another program would ask: its own login, one statement. */
async function queryAs(server: BenchServer, database: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url(database, 'naive') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const total = ({ counts }: Measured): number => [...counts.values()].reduce((sum, buffers) => sum + buffers, 0);

function depthTable(measured: readonly Measured[], rows: readonly number[]): Table {
  const at = (size: number, when: Measured['when']): Measured | undefined => measured.find((one) => one.rows === size && one.when === when);
  const line = (label: string, value: (one: Measured) => number | null): Table['rows'][number] => [
    label,
    ...rows.flatMap((size) =>
      (['before', 'after'] as const).map((when) => {
        const one = at(size, when);
        return one === undefined ? null : value(one);
      }),
    ),
  ];
  return {
    title: 'Depth, before and after',
    columns: ['read', ...rows.flatMap((size) => [`before ${short(size)}`, `after ${short(size)}`])],
    rows: [
      ...COUNTS.map(({ name }) => line(name, ({ counts }) => counts.get(name) ?? null)),
      line('depth in the reading', ({ depth }) => depth),
      line('live reading, whole', ({ reading }) => reading),
      line('examination by the doctor', ({ examination }) => examination.buffers),
      line('examination, ms', ({ examination }) => examination.ms),
    ],
  };
}

function adviceTable(applied: readonly Applied[]): Table {
  const mb = (bytes: number): number => bytes / 1_048_576;
  return {
    title: 'What the advice cost',
    columns: ['advice', 'rows', 'said MB', 'is MB', 'built in s'],
    rows: applied.map(({ check, rows, estimatedBytes, bytes, seconds }) => [check, short(rows), mb(estimatedBytes), mb(bytes), seconds]),
  };
}

function budgets(measured: readonly Measured[], rows: readonly number[], left: readonly string[]): Budget[] {
  const lines = measured
    .filter(({ when }) => when === 'after')
    .flatMap((one): Budget[] => [
      {
        name: `${short(one.rows)}: waiting, processing and dead counted, indexes as advised`,
        promise: 'depth after the advice',
        measured: total(one),
        limit: DEPTH_LIMIT,
        unit: 'buffers',
      },
      {
        name: `${short(one.rows)}: depth in the product's reading, indexes as advised`,
        promise: 'depth after the advice',
        measured: one.depth,
        limit: DEPTH_LIMIT,
        unit: 'buffers',
      },
    ]);
  const examinations = measured.map(({ rows: size, when, examination }): Budget => ({
    name: `${short(size)}: examination, ${when}`,
    promise: 'examination of an outbox',
    measured: examination.buffers,
    limit: EXAMINATION_LIMIT,
    unit: 'buffers',
  }));
  const nothing: Budget = {
    name: `advice left, ${rows.map(short).join(' and ')}`,
    promise: 'index findings left after the advice',
    measured: left.length,
    limit: 0,
    unit: 'findings',
  };
  return [...lines, ...examinations, nothing];
}
