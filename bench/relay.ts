import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseFailure } from '@/lib/database/failure';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { startTraffic, type Traffic } from './load/start-traffic';
import { BOOKS_BEHIND_SECONDS, collect, collectedUpTo, listPage, liveReading, openDirectory, openScreens, OUTBOX_ID } from './product';
import type { Databases } from './support/databases';
import { countersOf, difference } from './support/counters';
import { median, quantile, short } from './support/figures';
import type { Table } from './support/report';
import type { BenchServer } from './support/server';

const CLAIM_RATIO = 1.1;
const EVENTS_PER_SECOND = 500;
const ROUNDS = 30;
const ROUND_MS = 3_000;
const VIEWERS = 200;
/** A screen asks this often. */
const POLL_MS = 5_000;
const WATCHED_MS = 60_000;
/** A view takes no longer, on a busy machine either. */
const ANSWERED_MS = 1_000;
const COLLECTED_TIMEOUT_MS = 60_000;

/** What a first dashboard asks once a second. */
const NAIVE = [
  'SELECT count(*) AS total, count(*) FILTER (WHERE published_at IS NULL) AS pending FROM outbox_events',
  'SELECT * FROM outbox_events WHERE published_at IS NULL ORDER BY created_at DESC LIMIT 50',
];

type Mode = 'nobody' | 'console' | 'first dashboard';
const MODES: readonly Mode[] = ['nobody', 'console', 'first dashboard'];

export const relayBench: Bench = {
  name: 'relay',
  about: 'what watching costs the relay, and what the two-hundredth viewer adds',
  rows: [10_000_000],
  async run({ server, databases, rows: [rows = 0] }) {
    const { name } = await databases.filled(publishedAtFilling, rows);
    await server.query(name, 'GRANT INSERT, UPDATE ON outbox_events TO service');
    const traffic = startTraffic({ url: server.url(name, 'service'), perSecond: EVENTS_PER_SECOND, tickMs: 5 });
    try {
      const rounds = await measureRounds(server, name, traffic);
      const viewers = await watched(server, databases, name);
      const [one = NaN, many = NaN] = viewers.map(({ readings }) => readings);
      // Of a round's p95 the median over the rounds: one that somebody else's work fell into does not decide.
      const p95 = (mode: Mode): number => median(rounds.get(mode)?.map((claims) => quantile(claims, 0.95)) ?? []);
      const against = (mode: Mode): number => p95(mode) / p95('nobody');
      return {
        tables: [claimsTable(rounds, against), viewersTable(viewers)],
        budgets: [
          {
            promise: 'claim p95, watched ÷ unwatched',
            name: `claim p95, console watching once a second ÷ nobody watching`,
            measured: against('console'),
            limit: CLAIM_RATIO,
            unit: '×',
          },
          {
            promise: 'readings added by 199 more viewers',
            name: `readings of ${WATCHED_MS / 1_000} s beyond one viewer's, with ${VIEWERS} viewers`,
            measured: many - one,
            limit: 0,
            unit: 'readings',
          },
        ],
        notes: [
          `A relay claims batches from a published-at table of ${short(rows)} rows at ${EVENTS_PER_SECOND} events a second; ${ROUNDS} rounds of ${ROUND_MS / 1_000} s for each, taken in turns; a figure is the median of the rounds' own.`,
          `Viewers ask every ${POLL_MS / 1_000} s, each at a moment of its own; statements are counted by the server (pg_stat_statements).`,
        ],
      };
    } finally {
      await traffic.stop();
    }
  },
};

/** Claims by mode and round. */
async function measureRounds(server: BenchServer, database: string, traffic: Traffic): Promise<Map<Mode, number[][]>> {
  const rounds = new Map<Mode, number[][]>(MODES.map((mode) => [mode, []]));
  const directory = openDirectory(server.url(database, 'console'), publishedAtFilling.shape, publishedAtFilling.table);
  const naive = new pg.Client({ connectionString: server.url(database, 'naive'), application_name: 'naive' });
  await naive.connect();
  const outbox = await directory.get(OUTBOX_ID);
  const watch: Record<Mode, () => Promise<unknown>> = {
    nobody: () => Promise.resolve(),
    console: async () => {
      await liveReading(outbox, new Date(Date.now() - BOOKS_BEHIND_SECONDS * 1_000).toISOString());
      await listPage(outbox, { state: ['pending', 'retrying'] });
    },
    'first dashboard': async () => {
      for (const statement of NAIVE) await naive.query(statement);
    },
  };
  try {
    for (let round = -1; round < ROUNDS; round += 1) {
      // Turned round every time, so that what drifts meanwhile meets each as often in each place.
      for (const mode of round % 2 === 0 ? MODES : MODES.toReversed()) {
        await traffic.report();
        const until = Date.now() + ROUND_MS;
        while (Date.now() < until) {
          const next = Date.now() + 1_000;
          await watch[mode]().catch(unlessTimeout);
          await sleep(Math.max(0, Math.min(next, until) - Date.now()));
        }
        const { claims } = await traffic.report();
        // The first round warms everything up.
        if (round >= 0) rounds.get(mode)?.push(claims);
      }
    }
    return rounds;
  } finally {
    await naive.end();
    await directory.close();
  }
}

/** A reading that is cancelled, on a machine that is too busy, has watched the relay all the same. */
function unlessTimeout(error: unknown): void {
  if (!(error instanceof DatabaseFailure && error.code === 'timeout')) throw error;
}

interface Watched {
  viewers: number;
  calls: number;
  /** Statements that read the outbox. */
  readings: number;
  buffers: number;
}

/** One viewer and then many, while the outbox is collected as in life. */
async function watched(server: BenchServer, databases: Databases, database: string): Promise<Watched[]> {
  const storeUrl = server.superuserUrl(await databases.empty('watched'));
  const migrated = await migrateStore(storeUrl);
  if (!migrated.ok) throw new Error(migrated.detail);
  const store = openStore(storeUrl);
  const { shape, table } = publishedAtFilling;
  // Nothing of the past is read while viewers are counted.
  const collecting = collect(server.url(database, 'collector'), shape, table, store, () => undefined, 0);
  try {
    for (const until = Date.now() + COLLECTED_TIMEOUT_MS; (await collectedUpTo(store)) === null && Date.now() < until;) await sleep(500);
    return [await countStatements(server, database, store, 1), await countStatements(server, database, store, VIEWERS)];
  } finally {
    await collecting.stop();
    await store.close();
  }
}

async function countStatements(server: BenchServer, database: string, store: Store, viewers: number): Promise<Watched> {
  const directory = openDirectory(server.url(database, 'console'), publishedAtFilling.shape, publishedAtFilling.table);
  const screens = openScreens(directory, store);
  try {
    // Everything is bound and read once before the count begins, so that both begin alike.
    await screens.view();
    // From the start of a piece of time that one reading serves: both see as many of them.
    await sleep(POLL_MS - (Date.now() % POLL_MS));
    const before = { ...(await countersOf(server, database, 'console')), readings: await readingsOf(server, database) };
    // Who asks last is still answered in the last piece.
    const until = Date.now() + WATCHED_MS - ANSWERED_MS;
    await Promise.all(
      Array.from({ length: viewers }, async (_, viewer) => {
        await sleep((viewer * POLL_MS) / viewers);
        while (Date.now() < until) {
          const next = Date.now() + POLL_MS;
          await screens.view();
          await sleep(Math.max(0, next - Date.now()));
        }
      }),
    );
    const after = { ...(await countersOf(server, database, 'console')), readings: await readingsOf(server, database) };
    const { calls, buffers } = difference(before, after);
    return { viewers, calls, buffers, readings: after.readings - before.readings };
  } finally {
    await directory.close();
  }
}

/** Executions of the statements that touched the outbox's rows. */
async function readingsOf(server: BenchServer, database: string): Promise<number> {
  const [row] = await server.query<{ calls: string }>(
    database,
    `SELECT coalesce(sum(calls), 0) AS calls FROM pg_stat_statements WHERE userid = 'console'::regrole AND query LIKE '%"outbox_events"%'
      AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return Number(row?.calls ?? 0);
}

function claimsTable(rounds: Map<Mode, number[][]>, against: (mode: Mode) => number): Table {
  return {
    title: 'Claims of a relay',
    columns: ['watching, once a second', 'claims', 'p50 ms', 'p95 ms', 'p99 ms', 'p95 against nobody'],
    rows: MODES.map((mode) => {
      const claims = rounds.get(mode) ?? [];
      const of = (fraction: number): number => median(claims.map((round) => quantile(round, fraction)));
      return [mode, claims.flat().length, of(0.5), of(0.95), of(0.99), against(mode)];
    }),
  };
}

function viewersTable(watched: Watched[]): Table {
  return {
    title: 'Viewers of one outbox',
    columns: ['viewers', 'statements that read the table', 'statements in all', 'buffers'],
    rows: watched.map(({ viewers, readings, calls, buffers }) => [viewers, readings, calls, buffers]),
  };
}
