import { ensureBuilt } from '@/demo/start/build';
import path from 'node:path';
import type { Bench } from './bench';
import { publishedAtFilling } from './fillings/published-at';
import { startTraffic } from './load/start-traffic';
import { median, quantile, short } from './support/figures';
import { startBuiltConsole, type BuiltConsole } from './viewers/console';
import { actionIds, look, POLL_MS, type Answers } from './viewers/screens';

const VIEWERS = 200;
const MINUTE_MS = 60_000;
const MINUTES = 10;
const EVENTS_PER_SECOND = 20;
/** Beside what the process takes for one viewer. */
const MEMORY_MB = 100;

interface Watched {
  viewers: number;
  answers: Answers;
  /** At the end of each minute; null where the system does not tell. */
  memoryMb: (number | null)[];
}

export const viewersBench: Bench = {
  name: 'viewers',
  about: 'what two hundred open screens take of the console itself',
  rows: [100_000],
  async run({ server, databases, rows: [rows = 0], root, dir }) {
    await ensureBuilt({
      root,
      logFile: path.join(dir, `outbox-console-viewers-build-${String(process.pid)}.log`),
      started: () => undefined,
    });
    const { name } = await databases.filled(publishedAtFilling, rows);
    await server.query(name, 'GRANT INSERT, UPDATE ON outbox_events TO service');
    const [event] = await server.query<{ id: string }>(name, 'SELECT id FROM outbox_events LIMIT 1');
    const traffic = startTraffic({ url: server.url(name, 'service'), perSecond: EVENTS_PER_SECOND, tickMs: 50 });
    const watched: Watched[] = [];
    try {
      for (const viewers of [1, VIEWERS]) {
        const storeUrl = server.superuserUrl(await databases.empty('viewers_store'));
        const { shape, table } = publishedAtFilling;
        const console = await startBuiltConsole(root, storeUrl, {
          databases: { bench: { url: server.url(name, 'fleet') } },
          outboxes: [{ id: 'bench', database: 'bench', table: `public.${table}`, shape }],
        });
        try {
          watched.push(await watch(console, await actionIds(root), viewers, event?.id ?? ''));
        } finally {
          await console.stop();
        }
      }
    } finally {
      await traffic.stop();
      await databases.drop('viewers_store');
    }
    const [one, many] = watched;
    const last = (of: Watched | undefined): number => of?.memoryMb.at(-1) ?? NaN;
    for (const text of many?.answers.failed.slice(0, 10) ?? []) process.stderr.write(`${text}\n`);
    return {
      tables: [
        {
          title: 'The console’s own process',
          columns: [
            'viewers',
            'asked',
            'answered with a problem or 5xx',
            'p50 ms',
            'p99 ms',
            'MB after 1 minute',
            `MB after ${String(MINUTES)} minutes`,
          ],
          rows: watched.map(({ viewers, answers, memoryMb }) => [
            viewers,
            answers.asked,
            answers.failed.length,
            median(answers.ms),
            quantile(answers.ms, 0.99),
            memoryMb[0] ?? null,
            memoryMb.at(-1) ?? null,
          ]),
        },
      ],
      budgets: [
        {
          promise: 'answers of 5xx to two hundred viewers',
          name: `answers of 5xx, or with a problem, to ${String(VIEWERS)} viewers in ${String(MINUTES)} minutes`,
          measured: many?.answers.failed.length ?? NaN,
          limit: 0,
          unit: 'answers',
        },
        {
          promise: 'memory two hundred viewers add',
          name: `memory of the process with ${String(VIEWERS)} viewers beyond that with one, after ${String(MINUTES)} minutes each`,
          measured: last(many) - last(one),
          limit: MEMORY_MB,
          unit: 'MB',
        },
      ],
      notes: [
        `A console as \`npm start\` runs it, on a published-at table of ${short(rows)} rows with ${String(EVENTS_PER_SECOND)} events a second; every viewer has a session of its own, opens a page and asks its server action every ${String(POLL_MS / 1_000)} s: of ten viewers two see the fleet, four the outbox, two its events, one its dead letters and one an event.`,
      ],
    };
  },
};

async function watch(console: BuiltConsole, actions: Map<string, string>, viewers: number, event: string): Promise<Watched> {
  const cookies = await console.signIn(viewers);
  const memoryMb: (number | null)[] = [];
  const timer = setInterval(() => void console.memoryMb().then((mb) => memoryMb.push(mb)), MINUTE_MS);
  const answers = await look({ url: console.url, cookies, actions, event }, MINUTES * MINUTE_MS + POLL_MS);
  clearInterval(timer);
  return { viewers, answers, memoryMb };
}
