import net from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { shapeCalled, testOutbox, type TestOutbox } from '@/fixtures/outboxes';
import { CONNECTIONS_PER_SERVER } from '@/lib/shared/connections';
import type { FleetEntry, FleetSnapshot } from '@/lib/shared/figures/fleet';
import type { Bench } from './bench';
import { openConsole, type WatchingConsole } from './fleet/console';
import { fillDatabase, FLEET_TABLES, stopped, TABLES_PER_DATABASE } from './fleet/tables';
import type { Databases } from './support/databases';
import { median, quantile } from './support/figures';
import type { Table } from './support/report';
import type { BenchServer } from './support/server';

const DATABASES = 20;
const DOWN = 3;
const VIEWERS = 5;
/** A screen asks this often. */
const POLL_MS = 5_000;
/** Whoever opens the fleet looks at it for a while: in this time every outbox is read again. */
const FIRST_LOOKS = 3;
/** Nobody looks for so long; meanwhile the past of every outbox is read. */
const SETTLED_MS = 45_000;
const WATCHED_MS = 60_000;
const MOVE_EVERY_MS = 2_000;
const LOOK_AT_CONNECTIONS_MS = 250;

const SERVER_TIME_MS = 1_000;
const COLD_MS = 3_000;
const AS_OF_MS = 15_000;

export const fleetBench: Bench = {
  name: 'fleet',
  about: 'two hundred outboxes over twenty databases, three of them down',
  rows: [500],
  async run({ server, databases, rows: [rows = 0] }) {
    const up = await makeDatabases(server, databases, rows);
    const down = await downUrls(server);
    const settings = configured(server, up, down.urls);
    const errors = new Map<string, number>();
    const watching = await openConsole(settings, server.superuserUrl(await databases.empty('fleet_store')), (outbox, error) => {
      const text = `${outbox.replace(/\d+/g, 'n')}: ${String(error)}`;
      errors.set(text, (errors.get(text) ?? 0) + 1);
    });
    const traffic = keepMoving(server, up);
    try {
      const cold = await timed(() => watching.snapshots.fleet());
      for (let look = 0; look < FIRST_LOOKS; look += 1) {
        await sleep(POLL_MS);
        await watching.snapshots.fleet();
      }
      await sleep(SETTLED_MS);
      const again = await timed(() => watching.snapshots.fleet());
      for (let look = 0; look < FIRST_LOOKS; look += 1) {
        await sleep(POLL_MS);
        await watching.snapshots.fleet();
      }
      const seen = await watch(server, up, watching);
      seen.wrong.push(...wrongVerdicts(again.answer));
      for (const [text, count] of errors) process.stderr.write(`${String(count)} × ${text}\n`);
      return outcome({ cold, again }, seen);
    } finally {
      await traffic.stop();
      await watching.stop();
      await down.close();
      for (const name of [...up, 'fleet_store']) await databases.drop(name);
    }
  },
};

async function makeDatabases(server: BenchServer, databases: Databases, rows: number): Promise<string[]> {
  const names: string[] = [];
  for (let at = 0; at < DATABASES - DOWN; at += 1) {
    const name = await databases.empty(`fleet_${String(at)}`);
    await fillDatabase(server, name, rows);
    names.push(name);
  }
  return names;
}

/** One port that refuses, one that accepts and says nothing, and a database that is not there. */
async function downUrls(server: BenchServer): Promise<{ urls: string[]; close(): Promise<void> }> {
  const open = new Set<net.Socket>();
  const silent = net.createServer((socket) => open.add(socket.on('error', () => undefined).on('close', () => open.delete(socket))));
  const closed = net.createServer();
  const [silentPort, refusing] = [await listen(silent), await listen(closed)];
  await new Promise((resolve) => closed.close(resolve));
  const at = (port: number): string => {
    const url = new URL(server.url('fleet', 'fleet'));
    url.port = String(port);
    return url.href;
  };
  return {
    urls: [at(refusing), at(silentPort), server.url('fleet_dropped', 'fleet')],
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => silent.close(resolve));
    },
  };
}

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as net.AddressInfo).port;
}

interface Settings {
  databases: { id: string; url: string }[];
  outboxes: TestOutbox[];
}

function configured(server: BenchServer, up: string[], down: string[]): Settings {
  const databases = [
    ...up.map((name, at) => ({ id: `up-${String(at)}`, url: server.url(name, 'fleet') })),
    ...down.map((url, at) => ({ id: `down-${String(at)}`, url })),
  ];
  const outboxes = databases.flatMap(({ id }) =>
    FLEET_TABLES.map(({ schema, shape }, at) => testOutbox(shapeCalled(shape), schema, { id: `${id}-${String(at)}`, database: id })),
  );
  return { databases, outboxes };
}

/** The services and relays of all databases: one statement each every two seconds. */
function keepMoving(server: BenchServer, names: string[]): { stop(): Promise<void> } {
  let on = true;
  const moving = names.map(async (name) => {
    const client = new pg.Client({ connectionString: server.superuserUrl(name), application_name: 'bench traffic' });
    await client.connect();
    await sleep(Math.random() * MOVE_EVERY_MS);
    while (on) {
      await client.query('SELECT move()');
      await sleep(MOVE_EVERY_MS);
    }
    await client.end();
  });
  return {
    async stop() {
      on = false;
      await Promise.all(moving);
    },
  };
}

interface Timed<T> {
  ms: number;
  /** When it was answered, in milliseconds since the epoch. */
  at: number;
  answer: T;
}

async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const began = performance.now();
  const answer = await work();
  return { ms: performance.now() - began, at: Date.now(), answer };
}

interface Seen {
  polls: number[];
  bytes: number;
  /** Of the outboxes of databases that are up, in all polls. */
  oldestMs: number;
  stale: number;
  wrong: string[];
  lagMs: number[];
  statements: number;
  connections: Map<string, number>;
  connectionsAtOnce: number;
  delay: { p99Ms: number; maxMs: number };
  processorShare: number;
}

/** A minute of several viewers, and everything that can be seen from outside meanwhile. */
async function watch(server: BenchServer, up: string[], { snapshots, collector }: WatchingConsole): Promise<Seen> {
  const loop = monitorEventLoopDelay({ resolution: 10 });
  const seen: Seen = {
    polls: [],
    bytes: 0,
    oldestMs: 0,
    stale: 0,
    wrong: [],
    lagMs: [],
    statements: -(await statementsOf(server, up)),
    connections: new Map(),
    connectionsAtOnce: 0,
    delay: { p99Ms: 0, maxMs: 0 },
    processorShare: 0,
  };
  const connections = countConnections(server, seen);
  const [processor, began] = [process.cpuUsage(), Date.now()];
  loop.enable();
  const until = began + WATCHED_MS;
  await Promise.all(
    Array.from({ length: VIEWERS }, async (_, viewer) => {
      await sleep((viewer * POLL_MS) / VIEWERS);
      while (Date.now() < until) {
        const next = Date.now() + POLL_MS;
        const { ms, answer } = await timed(() => snapshots.fleet());
        seen.polls.push(ms);
        judgeAnswer(seen, answer);
        await sleep(Math.max(0, next - Date.now()));
      }
    }),
  );
  loop.disable();
  const used = process.cpuUsage(processor);
  seen.processorShare = (used.user + used.system) / 1_000 / (Date.now() - began);
  seen.delay = { p99Ms: loop.percentile(99) / 1e6, maxMs: loop.max / 1e6 };
  seen.statements += await statementsOf(server, up);
  seen.lagMs = up.flatMap((_, database) =>
    FLEET_TABLES.flatMap((__, at) => {
      const { foldedTo } = collector.status(`up-${String(database)}-${String(at)}`);
      return foldedTo === null ? [Infinity] : [Date.now() - Date.parse(foldedTo)];
    }),
  );
  await connections.stop();
  return seen;
}

function judgeAnswer(seen: Seen, answer: FleetSnapshot): void {
  const { entries } = answer;
  seen.bytes = JSON.stringify(entries).length;
  seen.wrong.push(...wrongVerdicts(answer));
  for (const { summary, stale } of entries.filter(isUp)) {
    if (stale !== null) seen.stale += 1;
    seen.oldestMs = Math.max(seen.oldestMs, Date.now() - Date.parse(summary.asOf));
  }
}

/** Of the outboxes that are up and have figures. */
function oldestMs({ at, answer }: Timed<FleetSnapshot>): number {
  const told = answer.entries.filter((entry) => isUp(entry) && !entry.unread);
  return Math.max(0, ...told.map(({ summary }) => at - Date.parse(summary.asOf)));
}

const isUp = ({ outbox }: FleetEntry): boolean => outbox.database.startsWith('up-');

function wrongVerdicts({ entries }: FleetSnapshot): string[] {
  return entries.flatMap((entry) => {
    const { outbox, summary } = entry;
    const at = Number(outbox.id.split('-').at(-1));
    const right = !isUp(entry) ? 'source_down' : stopped(at) ? 'relay_stopped' : 'healthy';
    const { verdict } = summary.diagnosis;
    return verdict === right ? [] : [`${outbox.id} (${outbox.shape}) is ${verdict}`];
  });
}

/** Executions by the console's role in the databases that are up. */
async function statementsOf(server: BenchServer, up: string[]): Promise<number> {
  const [row] = await server.query<{ calls: string }>(
    up[0] ?? 'postgres',
    `SELECT coalesce(sum(calls), 0) AS calls FROM pg_stat_statements WHERE userid = 'fleet'::regrole`,
  );
  return Number(row?.calls ?? 0);
}

/** The most connections of each name, and of all the console's names together, at any one time. */
function countConnections(server: BenchServer, seen: Seen): { stop(): Promise<void> } {
  let on = true;
  const counting = (async () => {
    const client = new pg.Client({ connectionString: server.superuserUrl('postgres'), application_name: 'bench' });
    await client.connect();
    while (on) {
      const { rows } = await client.query<{ name: string; n: number }>(
        `SELECT split_part(split_part(application_name, '/', 2), '@', 1) AS name, count(*)::int AS n FROM pg_stat_activity WHERE application_name LIKE 'outbox-console/%' GROUP BY 1`,
      );
      for (const { name, n } of rows) seen.connections.set(name, Math.max(seen.connections.get(name) ?? 0, n));
      const observing = rows.reduce((sum, { name, n }) => sum + (name === 'store' ? 0 : n), 0);
      seen.connectionsAtOnce = Math.max(seen.connectionsAtOnce, observing);
      await sleep(LOOK_AT_CONNECTIONS_MS);
    }
    await client.end();
  })();
  return {
    async stop() {
      on = false;
      await counting;
    },
  };
}

function outcome({ cold, again }: Record<'cold' | 'again', Timed<FleetSnapshot>>, seen: Seen): Awaited<ReturnType<Bench['run']>> {
  const outboxes = (DATABASES - DOWN) * TABLES_PER_DATABASE;
  const wrong = new Map<string, number>();
  for (const one of seen.wrong) wrong.set(one, (wrong.get(one) ?? 0) + 1);
  const perOutboxMinute = seen.statements / outboxes / (WATCHED_MS / 60_000);
  const known = ({ entries }: FleetSnapshot): number => entries.filter(({ summary }) => summary.depth.waiting.count !== null).length;
  return {
    tables: [
      {
        title: 'The fleet screen',
        columns: ['asked', 'p50 ms', 'max ms', 'outboxes with figures', 'oldest figures, s'],
        rows: [
          ['first, by a console that has just started', cold.ms, cold.ms, known(cold.answer), oldestMs(cold) / 1_000],
          [`once, when nobody had for ${String(SETTLED_MS / 1_000)} s`, again.ms, again.ms, known(again.answer), oldestMs(again) / 1_000],
          [
            `${String(seen.polls.length)} times in a minute by ${String(VIEWERS)} viewers`,
            median(seen.polls),
            Math.max(...seen.polls),
            outboxes,
            seen.oldestMs / 1_000,
          ],
        ],
      },
      costTable(seen, perOutboxMinute),
    ],
    budgets: [
      {
        promise: 'fleet screen, warm',
        name: 'fleet screen of 200 outboxes, every poll',
        measured: Math.max(again.ms, ...seen.polls),
        limit: SERVER_TIME_MS,
        unit: 'ms',
      },
      {
        promise: 'fleet screen, first after a start',
        name: 'the same, asked first after a start',
        measured: cold.ms,
        limit: COLD_MS,
        unit: 'ms',
      },
      {
        promise: 'age of the figures of what is up',
        name: 'oldest figures of an outbox that is up, while somebody looks',
        measured: seen.oldestMs,
        limit: AS_OF_MS,
        unit: 'ms',
      },
      {
        promise: 'outboxes that are up and shown as stale',
        name: 'outboxes that are up and shown as stale',
        measured: seen.stale,
        limit: 0,
        unit: 'times',
      },
      {
        promise: 'wrong verdicts',
        name: `verdicts that are not what the tables were made for, of ${String((seen.polls.length + 1) * DATABASES * TABLES_PER_DATABASE)}`,
        measured: seen.wrong.length,
        limit: 0,
        unit: 'verdicts',
      },
      {
        promise: 'connections to one server',
        name: 'connections to the server at any one time',
        measured: seen.connectionsAtOnce,
        limit: CONNECTIONS_PER_SERVER,
        unit: 'connections',
      },
    ],
    notes: [
      `${String(DATABASES - DOWN)} databases on one server with ${String(TABLES_PER_DATABASE)} small, busy tables of five layouts each, one of them with a relay that stopped; a port that refuses, one that accepts and never answers, and a database that is not there, with ten outboxes each. Directory, readings, collector, carrier and store are those of the console, in the process that measures.`,
      ...[...wrong].slice(0, 10).map(([text, count]) => `${String(count)} × ${text}`),
    ],
  };
}

function costTable(seen: Seen, perOutboxMinute: number): Table {
  const of = (name: string): number => seen.connections.get(name) ?? 0;
  return {
    title: 'What watching the fleet takes',
    columns: ['what', 'p50', 'most'],
    rows: [
      ['connections of readers', null, of('reader')],
      ['connections of the collector', null, of('collector')],
      ['connections to the observed server, all', null, seen.connectionsAtOnce],
      ['connections to the store', null, of('store')],
      ['statements per outbox and minute on the observed server', perOutboxMinute, null],
      ['age of the figures of an outbox that is up, ms', null, seen.oldestMs],
      ['how far behind the collector is, ms', median(seen.lagMs), quantile(seen.lagMs, 1)],
      ['delay of the event loop, ms (p99, most)', seen.delay.p99Ms, seen.delay.maxMs],
      ['processor of the console, cores', seen.processorShare, null],
      ['answer to one poll, kB', seen.bytes / 1_000, null],
    ],
  };
}
