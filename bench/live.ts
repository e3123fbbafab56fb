import { DatabaseFailure } from '@/lib/database/failure';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Bench } from './bench';
import { ESCROW_ADVISED, escrowStatusFilling } from './fillings/escrow-status';
import { DEAD_ROWS, type Filling } from './fillings/filling';
import { listenNotifyFilling } from './fillings/listen-notify';
import { publishedAtFilling } from './fillings/published-at';
import { workerStatusFilling } from './fillings/worker-status';
import { listedBy, openDirectory, OUTBOX_ID, PAGE_ROWS } from './product';
import { DEEP_PAGE, READS, type Kind, type Read, type Spot, type Spots } from './reads';
import type { Databases, FilledDatabase } from './support/databases';
import { median, short } from './support/figures';
import { foldedTo } from './support/folded-to';
import { executedDuring, partsOf, scansOf, type Executed } from './support/plans';
import { repeated, RUNS } from './support/repeated';
import type { Budget, Table } from './support/report';
import type { BenchServer } from './support/server';

const READING_GROWTH = 1.5;

interface Subject {
  label: string;
  filling: Filling;
  /** Made before this subject is measured and dropped afterwards: what each index is on, by its name. */
  indexes?: Record<string, string>;
  /** Which budgets hold: those of reads that an index of the table can serve. What the others cost is shown. */
  budgeted: readonly Kind[];
}

const OPEN: readonly Kind[] = ['reading', 'oldest', 'open page', 'causes'];

const SUBJECTS: readonly Subject[] = [
  { label: 'published-at', filling: publishedAtFilling, budgeted: [...OPEN, 'page'] },
  {
    label: 'published-at + (created_at, id)',
    filling: publishedAtFilling,
    indexes: { ob_list: 'outbox_events (created_at, id)' },
    budgeted: [...OPEN, 'page'],
  },
  { label: 'listen-notify', filling: listenNotifyFilling, budgeted: [...OPEN, 'page'] },
  { label: 'worker-status', filling: workerStatusFilling, budgeted: ['page'] },
  { label: 'escrow-status', filling: escrowStatusFilling, budgeted: ['page'] },
  { label: 'escrow-status, advised indexes', filling: escrowStatusFilling, indexes: ESCROW_ADVISED, budgeted: [...OPEN, 'page'] },
];

/** How the parts of a reading that only count are called. */
const COUNTED_PART = '_counted';

const PROMISES: Partial<Record<Kind, string>> = {
  reading: 'live reading, at most 1,000 waiting',
  oldest: 'oldest waiting',
  page: 'any page of a list',
  'open page': 'any page of waiting or dead events',
  causes: `${DEAD_ROWS} dead events by cause`,
};
/** The text of an error is in no index: each event it is read of may lie on a page of its own. */
const PAGES_PER_CAUSE = 1.1;
/** Of the part of a reading that counts dead events up to its cap. */
const COUNT_LIMIT = 200;

/** Pages touched; the same on every machine for the same table. */
const LIMITS: Partial<Record<Kind, number>> = { reading: 700, oldest: 5, page: 60, 'open page': 60, causes: PAGES_PER_CAUSE * DEAD_ROWS };

interface Measured {
  subject: Subject;
  rows: number;
  read: Read;
  statements: number;
  /** null when the statement timeout struck. */
  buffers: number | null;
  ms: number | null;
  scans: string[];
  parts: [string, { buffers: number; rows: number }][];
}

export const liveBench: Bench = {
  name: 'live',
  about: 'what the screens read from an observed table, in pages touched',
  rows: [1_000_000, 10_000_000],
  async run({ server, databases, rows }) {
    const measured: Measured[] = [];
    for (const [at, size] of rows.entries()) {
      // What no index serves is read whole: the smallest table shows it.
      const subjects = SUBJECTS.filter(({ budgeted }) => budgeted.length > 0 || at === 0);
      for (const subject of subjects) measured.push(...(await measureSubject(server, databases, subject, size)));
    }
    const tables = SUBJECTS.map((subject) =>
      readsTable(
        subject,
        measured.filter((one) => one.subject === subject),
        rows,
      ),
    );
    return {
      tables: [...tables, partsTable(measured, rows)],
      budgets: budgets(measured, rows),
      notes: [
        `Buffers are pages of 8 kB touched by the execution the product itself made, written down by the server (auto_explain); ms is the server's time for it, median of ${RUNS} runs with warm memory.`,
        '"–": the statement ran into the reader\'s own timeout of 5 s, was cancelled, and the screen says so.',
      ],
    };
  },
};

async function measureSubject(server: BenchServer, databases: Databases, subject: Subject, size: number): Promise<Measured[]> {
  const database = await databases.filled(subject.filling, size);
  const indexes = Object.entries(subject.indexes ?? {});
  for (const [name, on] of indexes) await server.query(database.name, `CREATE INDEX ${name} ON ${on}`);
  if (indexes.length > 0) await server.query(database.name, 'VACUUM (ANALYZE)');
  const directory = openDirectory(server.url(database.name, 'console'), subject.filling.shape, subject.filling.table);
  try {
    const outbox = await directory.get(OUTBOX_ID);
    const spots = await findSpots(server, database, outbox);
    const measured: Measured[] = [];
    for (const read of READS) measured.push({ subject, rows: size, read, ...(await measure(server, () => read.run(outbox, spots))) });
    return measured;
  } finally {
    await directory.close();
    // Whoever measures this table next finds it as it was shipped.
    for (const [name, on] of indexes) await server.query(database.name, `DROP INDEX ${schemaOf(on)}${name}`);
  }
}

/** An index is in the schema of its table. */
const schemaOf = (on: string): string => /^\w+\./.exec(on)?.[0] ?? '';

/** The rows that page 2,000 begins after, found with a statement of our own. */
async function findSpots(server: BenchServer, database: FilledDatabase, outbox: Outbox): Promise<Spots> {
  const name = (role: 'createdAt' | 'publishedAt' | 'id' | 'aggregateId'): string =>
    (role === 'id' ? outbox.main.id[0]?.name : outbox.main.roles[role]?.column.name) ?? 'NULL';
  const [key, id, aggregate] = [name(listedBy(outbox)), name('id'), name('aggregateId')];
  const spot = async (direction: 'ASC' | 'DESC'): Promise<Spot> => {
    const [row] = await server.query<Spot>(
      database.name,
      `SELECT ${key}::text AS key, ${id}::text AS id, ${aggregate}::text AS aggregate FROM ${database.filling.table}
        WHERE ${key} IS NOT NULL ORDER BY ${key} ${direction}, ${id} ${direction} OFFSET ${(DEEP_PAGE - 1) * PAGE_ROWS - 1} LIMIT 1`,
    );
    if (row === undefined) throw new Error(`${database.name} has no page ${DEEP_PAGE}`);
    return row;
  };
  return { foldedTo: await foldedTo(server, database.name, outbox), deepNewest: await spot('DESC'), deepOldest: await spot('ASC') };
}

type Figures = Pick<Measured, 'statements' | 'buffers' | 'ms' | 'scans' | 'parts'>;

async function measure(server: BenchServer, work: () => Promise<unknown>): Promise<Figures> {
  let runs: Executed[][];
  try {
    runs = await repeated(() => executedDuring(server, ['console'], work));
  } catch (error) {
    if (!(error instanceof DatabaseFailure && error.code === 'timeout')) throw error;
    return { statements: 0, buffers: null, ms: null, scans: [], parts: [] };
  }
  const last = runs.at(-1) ?? [];
  return {
    statements: last.filter(({ plan }) => scansOf(plan).length > 0).length,
    buffers: median(runs.map((run) => sum(run, 'buffers'))),
    ms: median(runs.map((run) => sum(run, 'ms'))),
    scans: [...new Set(last.flatMap(({ plan }) => scansOf(plan)))],
    parts: last.flatMap(({ plan }) => [...partsOf(plan)]),
  };
}

const sum = (executed: Executed[], figure: 'buffers' | 'ms'): number => executed.reduce((total, one) => total + one[figure], 0);

function readsTable(subject: Subject, measured: Measured[], rows: readonly number[]): Table {
  return {
    title: subject.label,
    columns: ['read', ...rows.flatMap((size) => [`buffers ${short(size)}`, `ms ${short(size)}`]), 'by'],
    rows: READS.map((read) => {
      const bySize = rows.map((size) => measured.find((one) => one.read === read && one.rows === size));
      return [read.name, ...bySize.flatMap((one) => [one?.buffers ?? null, one?.ms ?? null]), bySize.at(-1)?.scans.join(', ') ?? ''];
    }),
  };
}

/** Where the pages of the live reading go. */
function partsTable(measured: Measured[], rows: readonly number[]): Table {
  const readings = measured.filter(({ read }) => read.kind === 'reading');
  return {
    title: 'Live reading, part by part',
    columns: ['table', 'part', ...rows.flatMap((size) => [`rows ${short(size)}`, `buffers ${short(size)}`])],
    rows: SUBJECTS.flatMap((subject) => {
      const bySize = rows.map((size) => new Map(readings.find((one) => one.subject === subject && one.rows === size)?.parts ?? []));
      const names = [...new Set(bySize.flatMap((parts) => [...parts.keys()]))];
      return names.map((part) => [
        subject.label,
        part,
        ...bySize.flatMap((parts) => [parts.get(part)?.rows ?? null, parts.get(part)?.buffers ?? null]),
      ]);
    }),
  };
}

function budgets(measured: Measured[], rows: readonly number[]): Budget[] {
  return SUBJECTS.filter(({ budgeted }) => budgeted.length > 0).flatMap((subject) => {
    const own = measured.filter((one) => one.subject === subject);
    const readings = own.filter(({ read }) => read.kind === 'reading');
    const lines = own.flatMap(({ read, rows: size, buffers }): Budget[] => {
      const limit = LIMITS[read.kind];
      return limit === undefined || !subject.budgeted.includes(read.kind)
        ? []
        : [
            {
              name: `${subject.label} ${short(size)}: ${read.name}`,
              promise: PROMISES[read.kind] ?? '',
              measured: buffers,
              limit,
              unit: 'buffers',
            },
          ];
    });
    lines.push(
      ...readings.flatMap(({ rows: size, parts }) =>
        parts
          .filter(([part]) => part.endsWith(COUNTED_PART))
          .map(([part, { buffers }]) => ({
            name: `${subject.label} ${short(size)}: ${part}`,
            promise: 'capped counts',
            measured: buffers,
            limit: COUNT_LIMIT,
            unit: 'buffers',
          })),
      ),
    );
    const [small, large] = [readings[0], readings.at(-1)];
    if (rows.length < 2 || small === undefined || large === undefined) return lines;
    const growth = small.buffers === null || large.buffers === null ? null : large.buffers / small.buffers;
    return [
      ...lines,
      {
        promise: 'live reading, largest table ÷ smallest',
        name: `${subject.label}: live reading, ${short(large.rows)} ÷ ${short(small.rows)}`,
        measured: growth,
        limit: READING_GROWTH,
        unit: '×',
      },
    ];
  });
}
