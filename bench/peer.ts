import pg from 'pg';
import type { OutboxDirectory } from '@/lib/outbox/directory';
import { migrateStore, openStore } from '@/lib/store/store';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { startDashboard, type Dashboard } from './peer/dashboard';
import { installPeer, PEER_PACKAGES, runTables, type Peer } from './peer/install';
import { fillJobs } from './peer/jobs';
import { listPage, liveReading, OUTBOX_ID, openDirectory, openScreens, PAGE_ROWS } from './product';
import type { Databases } from './support/databases';
import { median, short } from './support/figures';
import { foldedTo } from './support/folded-to';
import { executedDuring, type Executed } from './support/plans';
import type { Budget, Cell, Table } from './support/report';
import type { BenchServer, Role } from './support/server';

/** Times fewer pages for the same list. */
const LIST_RATIO = 1_000;
/** The ratio is promised for tables of this size. */
const RATIO_ROWS = 10_000_000;
const RUNS = 5;
const SLOW_MS = 1_000;
const DEEP_PAGE = 2_000;

type What = 'overview' | 'waiting' | 'all' | 'published' | 'dead' | `all, page ${typeof DEEP_PAGE}`;

/** The same question to each: the peer's page, the statement a first dashboard would use, and our screen. */
const PAGES: Record<What, string> = {
  overview: '/',
  waiting: '/jobs',
  all: '/jobs?state=all',
  published: '/jobs?state=completed',
  dead: '/jobs?state=failed',
  [`all, page ${DEEP_PAGE}`]: `/jobs?state=all&page=${DEEP_PAGE}`,
};

const NAIVE: Record<What, string> = {
  overview: `SELECT count(*) FILTER (WHERE published_at IS NULL) AS pending, min(created_at) FILTER (WHERE published_at IS NULL) AS oldest, count(*) AS total, max(published_at) AS last FROM outbox_events`,
  waiting: `SELECT *, count(*) OVER () AS total FROM outbox_events WHERE published_at IS NULL ORDER BY created_at DESC LIMIT ${PAGE_ROWS}`,
  all: `SELECT *, (SELECT count(*) FROM outbox_events) AS total FROM outbox_events ORDER BY created_at DESC LIMIT ${PAGE_ROWS}`,
  published: `SELECT *, (SELECT count(*) FROM outbox_events WHERE published_at IS NOT NULL) AS total FROM outbox_events WHERE published_at IS NOT NULL ORDER BY created_at DESC LIMIT ${PAGE_ROWS}`,
  dead: `SELECT * FROM outbox_dead ORDER BY created_at DESC LIMIT ${PAGE_ROWS}`,
  [`all, page ${DEEP_PAGE}`]: `SELECT * FROM outbox_events ORDER BY created_at DESC LIMIT ${PAGE_ROWS} OFFSET ${(DEEP_PAGE - 1) * PAGE_ROWS}`,
};

/** What else such dashboards ask, for which the peer has no page. */
const WIDGETS: Record<string, string> = {
  'percentiles of 24 hours': `SELECT percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY published_at - created_at) FROM outbox_events WHERE created_at > now() - interval '24 hours'`,
  'events by type': 'SELECT event_type, count(*) FROM outbox_events GROUP BY event_type ORDER BY 2 DESC',
  'published per minute, 24 hours': `SELECT date_trunc('minute', created_at), count(*) FROM outbox_events WHERE created_at > now() - interval '24 hours' GROUP BY 1`,
  'search in payloads': `SELECT * FROM outbox_events WHERE payload::text ILIKE '%customer4711@%' ORDER BY created_at DESC LIMIT ${PAGE_ROWS}`,
};

interface Cost {
  statements: number;
  buffers: number;
  ms: number;
}

interface Measured {
  rows: number;
  ours: Map<What, Cost>;
  naive: Map<string, Cost>;
  peer: Map<What, Cost & { pageMs: number }>;
  /** One more view of our overview by somebody else, and one pass that refreshes the peer's figures. */
  furtherView: Cost;
  supervise: Cost | null;
}

export const peerBench: Bench = {
  name: 'peer',
  about: `beside first dashboards and pg-boss ${PEER_PACKAGES['pg-boss']} with its dashboard ${PEER_PACKAGES['@pg-boss/dashboard']}`,
  rows: [1_000_000, 10_000_000],
  async run({ server, databases, rows, dir }) {
    const peer = await installPeer(dir).catch((error: Error) => error.message);
    const measured: Measured[] = [];
    try {
      for (const size of rows) measured.push(await measureSize(server, databases, typeof peer === 'string' ? null : peer, size));
    } finally {
      if (typeof peer !== 'string') await peer.remove();
    }
    return {
      tables: [...measured.map(pagesTable), widgetsTable(measured), overviewTable(measured)],
      budgets: measured.flatMap(budgetsOf),
      notes: [
        `Buffers are pages of 8 kB touched, ms the server's time, by the server's own record of what each program executed; medians of ${RUNS} runs with warm memory, one run where it takes more than ${SLOW_MS / 1_000} s.`,
        `Ours is a published-at table with the index for lists, (created_at, id); theirs has the indexes it ships with.`,
        ...(typeof peer === 'string' ? [peer] : []),
      ],
    };
  },
};

async function measureSize(server: BenchServer, databases: Databases, peer: Peer | null, rows: number): Promise<Measured> {
  const { name } = await databases.filled(publishedAtFilling, rows);
  await server.query(name, 'CREATE INDEX ob_list ON outbox_events (created_at, id)');
  await server.query(name, 'VACUUM (ANALYZE)');
  const measured: Measured = { rows, ours: new Map(), naive: new Map(), peer: new Map(), furtherView: NOTHING, supervise: null };
  const directory = openDirectory(server.url(name, 'console'), publishedAtFilling.shape, publishedAtFilling.table);
  try {
    const outbox = await directory.get(OUTBOX_ID);
    const [deep] = await server.query<{ key: string; id: string }>(
      name,
      `SELECT created_at::text AS "key", id FROM outbox_events ORDER BY created_at DESC, id DESC OFFSET ${(DEEP_PAGE - 1) * PAGE_ROWS - 1} LIMIT 1`,
    );
    const end = await foldedTo(server, name, outbox);
    const ours: Record<What, () => Promise<unknown>> = {
      overview: () => liveReading(outbox, end),
      waiting: () => listPage(outbox, { state: ['pending', 'retrying'] }),
      all: () => listPage(outbox, {}),
      published: () => listPage(outbox, { state: ['published'] }),
      dead: () => listPage(outbox, { state: ['dead'] }),
      [`all, page ${DEEP_PAGE}`]: () => listPage(outbox, {}, deep),
    };
    for (const [what, work] of Object.entries(ours) as [What, () => Promise<unknown>][])
      measured.ours.set(what, await cost(server, 'console', work));
    measured.furtherView = await furtherView(server, databases, directory);
  } finally {
    await directory.close();
  }
  for (const [what, statement] of Object.entries({ ...NAIVE, ...WIDGETS })) {
    measured.naive.set(what, await cost(server, 'naive', () => once(server.url(name, 'naive'), statement)));
  }
  await server.query(name, 'DROP INDEX ob_list');
  if (peer !== null) await measurePeer(server, databases, peer, measured);
  return measured;
}

/** What the second of two people costs who look at the same moment. */
async function furtherView(server: BenchServer, databases: Databases, directory: OutboxDirectory): Promise<Cost> {
  const storeUrl = server.superuserUrl(await databases.empty('beside'));
  const migrated = await migrateStore(storeUrl);
  if (!migrated.ok) throw new Error(migrated.detail);
  const store = openStore(storeUrl);
  try {
    const screens = openScreens(directory, store);
    await screens.view();
    return costOf(await executedDuring(server, ['console'], () => screens.view()));
  } finally {
    await store.close();
  }
}

async function measurePeer(server: BenchServer, databases: Databases, peer: Peer, measured: Measured): Promise<void> {
  const database = await fillJobs(server, databases, peer, measured.rows);
  const url = server.url(database, 'peer');
  let dashboard: Dashboard | null = null;
  try {
    measured.supervise = costOf(
      (await executedDuring(server, ['peer'], () => runTables(peer, 'supervise', url))).filter(({ buffers }) => buffers > 0),
    );
    dashboard = await startDashboard(peer, url);
    const { open } = dashboard;
    for (const [what, path] of Object.entries(PAGES) as [What, string][]) {
      const pageMs: number[] = [];
      const sql = await cost(server, 'peer', async () => pageMs.push(await open(path)));
      measured.peer.set(what, { ...sql, pageMs: median(pageMs.slice(1)) });
    }
  } finally {
    await dashboard?.stop();
    await databases.drop(database);
  }
}

const NOTHING: Cost = { statements: 0, buffers: 0, ms: 0 };

async function cost(server: BenchServer, role: Role, work: () => Promise<unknown>): Promise<Cost> {
  const begun = performance.now();
  await work();
  const times = performance.now() - begun > SLOW_MS ? 1 : RUNS;
  const runs: Cost[] = [];
  for (let run = 0; run < times; run += 1) runs.push(costOf(await executedDuring(server, [role], work)));
  const of = (figure: keyof Cost): number => median(runs.map((one) => one[figure]));
  return { statements: of('statements'), buffers: of('buffers'), ms: of('ms') };
}

/** Statements that touch no page, such as settings, are not counted. */
function costOf(executed: Executed[]): Cost {
  return executed
    .filter(({ buffers }) => buffers > 0)
    .reduce((sum, one) => ({ statements: sum.statements + 1, buffers: sum.buffers + one.buffers, ms: sum.ms + one.ms }), NOTHING);
}

async function once(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'naive' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function pagesTable({ rows, ours, naive, peer }: Measured): Table {
  const cells = (cost: Cost | undefined): Cell[] => [cost?.buffers ?? null, cost?.ms ?? null];
  return {
    title: `${short(rows)} rows`,
    columns: ['what', 'ours: buffers', 'ms', 'first dashboard: buffers', 'ms', 'pg-boss: buffers', 'ms', 'its page ms', 'pg-boss ÷ ours'],
    rows: (Object.keys(PAGES) as What[]).map((what) => {
      const theirs = peer.get(what);
      return [
        what,
        ...cells(ours.get(what)),
        ...cells(naive.get(what)),
        ...cells(theirs),
        theirs?.pageMs ?? null,
        ratio(theirs, ours.get(what)),
      ];
    }),
  };
}

const ratio = (theirs: Cost | undefined, ours: Cost | undefined): number | null =>
  theirs === undefined || ours === undefined ? null : theirs.buffers / Math.max(1, ours.buffers);

function widgetsTable(measured: Measured[]): Table {
  return {
    title: 'What first dashboards ask besides',
    columns: ['widget', ...measured.flatMap(({ rows }) => [`buffers ${short(rows)}`, `ms ${short(rows)}`])],
    rows: Object.keys(WIDGETS).map((widget) => [
      widget,
      ...measured.flatMap(({ naive }) => [naive.get(widget)?.buffers ?? null, naive.get(widget)?.ms ?? null]),
    ]),
  };
}

/** An overview costs when its figures are made, and when somebody looks at them. */
function overviewTable(measured: Measured[]): Table {
  return {
    title: 'An overview: making its figures, and one more person looking at them',
    columns: ['rows', 'ours: making, buffers', 'ms', 'one more view, buffers', 'pg-boss: making, buffers', 'ms', 'one more view, buffers'],
    rows: measured.map(({ rows, ours, peer, furtherView, supervise }) => [
      short(rows),
      ours.get('overview')?.buffers ?? null,
      ours.get('overview')?.ms ?? null,
      furtherView.buffers,
      supervise?.buffers ?? null,
      supervise?.ms ?? null,
      peer.get('overview')?.buffers ?? null,
    ]),
  };
}

function budgetsOf({ rows, ours, peer, furtherView, supervise }: Measured): Budget[] {
  const lists: What[] = ['waiting', 'all', 'published'];
  const label = short(rows);
  return [
    ...(rows < RATIO_ROWS
      ? []
      : lists.map((what): Budget => ({
          promise: 'lists: pg-boss ÷ ours',
          name: `${label}: list of ${what}, pg-boss ÷ ours`,
          measured: ratio(peer.get(what), ours.get(what)),
          limit: LIST_RATIO,
          rule: '>=',
          unit: '× the pages',
        }))),
    {
      promise: 'one more view of the overview, against theirs',
      name: `${label}: one more view of the overview, against theirs`,
      measured: furtherView.buffers,
      limit: peer.get('overview')?.buffers ?? NaN,
      unit: 'buffers',
    },
    {
      promise: 'making the overview, against theirs',
      name: `${label}: making the overview's figures, against theirs`,
      measured: ours.get('overview')?.buffers ?? null,
      limit: supervise?.buffers ?? NaN,
      unit: 'buffers',
    },
  ];
}
