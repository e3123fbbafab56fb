/** A soak of the connections: more callers than places, over several databases of one server, while connections and the line break. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createRandom, type Random } from '@/demo/random';
import { createServers } from '@/lib/database/connections/servers';
import { openDatabase, type Database } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import { lineTo, type Line } from '@/scripts/testing/breaking-line';
import type { Bench } from './bench';
import type { Budget } from './support/report';
import type { BenchServer } from './support/server';

const SOAK_MS = 150_000;
const DATABASES = 12;
const CALLERS = 200;
const CONNECTIONS = 24;
const KILL_EVERY_MS = 700;
/** The line is down for a tenth of each round. */
const ROUND_MS = 20_000;
/** Connections at rest are closed after half a minute, and looked for every quarter. */
const REST_MS = 50_000;

interface Tally {
  answered: number;
  /** By the failure's code and state. */
  refused: Map<string, number>;
  longestMs: number;
  /** Asked, and neither answered nor refused. */
  open: number;
  /** Most connections the server saw at once. */
  most: number;
  killed: number;
}

export const connectionsBench: Bench = {
  name: 'connections',
  about: 'a soak of the connections to one server: the bound holds, everybody is answered, nothing is left over',
  rows: [],
  async run({ server, databases }) {
    const names: string[] = [];
    for (let at = 0; at < DATABASES; at += 1) names.push(await databases.empty(`soak_${String(at)}`));
    const line = await lineTo(server.superuserUrl('postgres'), null);
    const servers = createServers(CONNECTIONS);
    const opened = names.map((name) => {
      const url = new URL(line.url);
      url.pathname = `/${name}`;
      return openDatabase({ id: name, url: url.href, operatorUrl: url.href, servers });
    });
    const tally: Tally = { answered: 0, refused: new Map(), longestMs: 0, open: 0, most: 0, killed: 0 };
    const until = Date.now() + SOAK_MS;
    await Promise.all([
      ...Array.from({ length: CALLERS }, (_, at) => call(opened, createRandom(`caller ${String(at)}`), until, tally)),
      breakLine(line, until),
      watchAndKill(server, until, tally),
    ]);
    const inUse = opened
      .flatMap(({ id }) => Object.values(servers.connections(id)?.roles ?? {}))
      .reduce((sum, role) => sum + role.inUse, 0);
    await sleep(REST_MS);
    const left = (await held(server)).length;
    await Promise.all(opened.map((database) => database.close()));
    line.close();
    const budget = (name: string, measured: number, limit: number): Budget => ({ name, promise: name, measured, limit, unit: '' });
    return {
      tables: [
        {
          title: 'A soak of the connections',
          columns: [`${String(CALLERS)} callers over ${String(DATABASES)} databases, ${String(SOAK_MS / 1_000)} s`, 'number'],
          rows: [
            ['answered', tally.answered],
            ...[...tally.refused].map(([code, count]): [string, number] => [`refused: ${code}`, count]),
            ['connections ended by the server', tally.killed],
            ['longest time to an answer, ms', Math.round(tally.longestMs)],
          ],
        },
      ],
      budgets: [
        budget('most connections the server saw at once', tally.most, CONNECTIONS),
        budget('callers without an answer', tally.open, 0),
        budget('callers who waited in line to no end', tally.refused.get('busy') ?? 0, 0),
        budget('connections in use after the last caller', inUse, 0),
        budget('connections at the server after a rest', left, 0),
      ],
      notes: [],
    };
  },
};

function pickOf<T>(random: Random, items: readonly T[]): T {
  const found = items[random.int(0, items.length - 1)];
  if (found === undefined) throw new Error('there is nothing to pick from');
  return found;
}

/** Reads for the most part, changes at times, and reads large content now and then; a hundredth takes long. */
async function call(databases: readonly Database[], random: Random, until: number, tally: Tally): Promise<void> {
  while (Date.now() < until) {
    const database = pickOf(random, databases);
    const seconds = random.chance(0.01) ? 0.3 : random.float() * 0.02;
    const share = random.float();
    const begun = performance.now();
    tally.open += 1;
    try {
      const work = (db: Parameters<Parameters<Database['read']>[0]>[0]) => sql`select pg_sleep(${seconds})`.execute(db);
      if (share < 0.02) await database.readContent(work);
      else if (share < 0.2) await database.write?.(work);
      else await database.read(work);
      tally.answered += 1;
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error;
      const why = error.state === null ? error.code : `${error.code} ${error.state}`;
      tally.refused.set(why, (tally.refused.get(why) ?? 0) + 1);
      await sleep(100);
    }
    tally.open -= 1;
    tally.longestMs = Math.max(tally.longestMs, performance.now() - begun);
  }
}

async function breakLine(line: Line, until: number): Promise<void> {
  while (Date.now() + ROUND_MS < until) {
    await sleep(ROUND_MS * 0.9);
    line.cut();
    await sleep(ROUND_MS * 0.1);
    line.mend();
  }
}

async function watchAndKill(server: BenchServer, until: number, tally: Tally): Promise<void> {
  const random = createRandom('kills');
  for (let killAt = Date.now() + KILL_EVERY_MS; Date.now() < until; await sleep(50)) {
    const pids = await held(server);
    tally.most = Math.max(tally.most, pids.length);
    if (Date.now() < killAt || pids.length === 0) continue;
    killAt = Date.now() + KILL_EVERY_MS;
    await server.query('postgres', 'SELECT pg_terminate_backend($1)', [pickOf(random, pids)]);
    tally.killed += 1;
  }
}

/** Server processes of the console's connections. */
async function held(server: BenchServer): Promise<number[]> {
  const rows = await server.query<{ pid: number }>(
    'postgres',
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'outbox-console/%' AND datname LIKE 'soak\\_%'`,
  );
  return rows.map(({ pid }) => pid);
}
