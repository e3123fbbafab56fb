import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createSinkClient, type SinkControl } from '@/demo/sink/client';
import { createStoreDatabase, withClient } from '@/demo/world/databases';
import { startWorld, type World } from '@/demo/world/world';
import type { Diagnosis } from '@/lib/shared/figures/verdicts';
import type { Bench } from './bench';
import type { Budget, Cell } from './support/report';
import { bursts } from './verdicts/bursts';
import { FAULTS, type Fault } from './verdicts/faults';
import { LOOK_EVERY_MS, watch, type Watcher } from './verdicts/watch';

const APPEARS_WITHIN_S = 30;
const GOES_WITHIN_S = 60;
/** A fault is given up on after this, so that a figure is shown beside the budget it missed. */
const GIVEN_UP_MS = 120_000;
const HEALTHY_MINUTES = 10;
/** Relays and books begin; what was due at the start goes out. */
const SETTLE_MS = 60_000;
const OUTBOXES = ['escrow', 'orders-sqs', 'orders-kafka', 'orders-redis', 'notifications'];
interface Timed {
  fault: Fault;
  appearedMs: number | null;
  goneMs: number | null;
  /** What was said in between, worst facts first. */
  said: string;
}

/** The demo's world without its standing troubles: every fault is caused and mended, then ten minutes of bursts. */
export const verdictsBench: Bench = {
  name: 'verdicts',
  about: 'how soon each verdict appears and goes, and whether healthy traffic ever gets one',
  rows: [],
  async run({ server, dir }) {
    const superuserUrl = (database: string): string => server.superuserUrl(database);
    const storeUrl = await createStoreDatabase(superuserUrl);
    const configPath = path.join(dir, `outbox-console-verdicts-${process.pid}`, 'console.yaml');
    const world = await startWorld({ superuserUrl, storeUrl, configPath, seed: 'verdicts', log: () => undefined, withoutFaults: true });
    const sink = createSinkClient({ url: world.sinkUrl });
    const heard: { outbox: string; at: number; found: Diagnosis }[] = [];
    const watcher = await watch(configPath, storeUrl, OUTBOXES, (outbox, found) => heard.push({ outbox, at: Date.now(), found }));
    try {
      await emptyBacklog(world, sink);
      await sleep(SETTLE_MS);
      const timed = (await Promise.all(OUTBOXES.map((outbox) => inTurn(outbox, world, sink, watcher)))).flat();
      process.stderr.write('every fault is mended; healthy bursts begin\n');
      await sleep(SETTLE_MS);
      const from = Date.now();
      const poured = await bursts(OUTBOXES, (id, text, values) => rows(world, id, text, values), HEALTHY_MINUTES * 60_000);
      const false_ = heard.filter(({ at, found }) => at >= from && found.verdict !== 'healthy');
      return outcomeOf(timed, heard.filter(({ at }) => at >= from).length, false_, poured);
    } finally {
      await watcher.stop();
      sink.close();
      await world.stop();
    }
  },
};

function outcomeOf(timed: Timed[], looks: number, wrong: { outbox: string; found: Diagnosis }[], poured: number) {
  const seconds = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 100) / 10);
  const budgets = timed.flatMap(({ fault, appearedMs, goneMs }): Budget[] => [
    {
      name: `${fault.verdict} of ${fault.outbox} appears`,
      promise: 'from a fault to its verdict',
      measured: seconds(appearedMs),
      limit: APPEARS_WITHIN_S,
      unit: 's',
    },
    {
      name: `${fault.verdict} of ${fault.outbox} is gone`,
      promise: 'from a mend to the end of the verdict',
      measured: seconds(goneMs),
      limit: GOES_WITHIN_S,
      unit: 's',
    },
  ]);
  return {
    tables: [
      {
        title: 'From the fault to its verdict, and from the mend to its end',
        columns: ['verdict', 'outbox', 'fault', 'appears, s', 'gone, s', 'said'],
        rows: timed.map(({ fault, appearedMs, goneMs, said }): Cell[] => [
          fault.verdict,
          fault.outbox,
          fault.how,
          seconds(appearedMs),
          seconds(goneMs),
          said,
        ]),
      },
      {
        title: `False verdicts in ${HEALTHY_MINUTES} minutes of healthy traffic with bursts`,
        columns: ['outbox', 'verdict', 'said'],
        rows: wrong.map(({ outbox, found }): Cell[] => [outbox, found.verdict, say(found)]),
      },
    ],
    budgets: [
      ...budgets,
      {
        name: `false verdicts in ${HEALTHY_MINUTES} minutes of bursts`,
        promise: 'false verdicts in healthy traffic',
        measured: wrong.length,
        limit: 0,
        unit: 'verdicts',
      },
    ],
    notes: [
      `${looks.toLocaleString('en-US')} looks, five seconds apart, while ${poured.toLocaleString('en-US')} events came in bursts beside the usual traffic.`,
    ],
  };
}

const say = ({ evidence }: Diagnosis): string =>
  evidence
    .slice(0, 2)
    .map(({ code, values }) => `${code} ${JSON.stringify(values)}`)
    .join(' · ');

/** The faults of one outbox, one after the other, each when the one before it is mended and over. */
async function inTurn(outbox: string, world: World, sink: SinkControl, watcher: Watcher): Promise<Timed[]> {
  const done: Timed[] = [];
  for (const fault of FAULTS.filter((one) => one.outbox === outbox)) {
    await until(() => watcher.latest(outbox)?.verdict === 'healthy');
    let going = true;
    const hands = {
      outbox,
      sink,
      query: <R extends pg.QueryResultRow>(text: string, values?: unknown[]) => rows<R>(world, outbox, text, values),
      going: () => going,
    };
    const holds = (): boolean => watcher.latest(outbox)?.verdict === fault.verdict;
    const begun = Date.now();
    await fault.cause(hands);
    const appearedMs = (await until(holds)) ? Date.now() - begun : null;
    const found = watcher.latest(outbox);
    const mending = Date.now();
    going = false;
    await fault.mend(hands);
    const goneAt = await whenOver(holds);
    const goneMs = goneAt === null ? null : goneAt - mending;
    done.push({ fault, appearedMs, goneMs, said: found === null ? '' : `${found.verdict}: ${say(found)}` });
    process.stderr.write(
      `${outbox} ${fault.verdict}: appeared ${appearedMs ?? '–'} ms, gone ${goneMs ?? '–'} ms; ${done.at(-1)?.said ?? ''}\n`,
    );
  }
  return done;
}

async function until(holds: () => boolean): Promise<boolean> {
  const begun = Date.now();
  while (!holds()) {
    if (Date.now() - begun > GIVEN_UP_MS) return false;
    await sleep(100);
  }
  return true;
}

/** When it stopped holding for good: a verdict that comes back within three looks was not gone. */
async function whenOver(holds: () => boolean): Promise<number | null> {
  for (let tries = 0; tries < 5; tries += 1) {
    if (!(await until(() => !holds()))) return null;
    const at = Date.now();
    while (!holds()) {
      if (Date.now() - at > 3.5 * LOOK_EVERY_MS) return at;
      await sleep(100);
    }
  }
  return null;
}

/** The relay of notifications reads a hundred old events at its start: it is started until none is left. */
async function emptyBacklog(world: World, sink: SinkControl): Promise<void> {
  for (let starts = 0; starts < 10; starts += 1) {
    await sink.setRelay('notifications', false);
    await sink.setRelay('notifications', true);
    await sleep(4_000);
    const [row] = await rows<{ n: string }>(world, 'notifications', 'SELECT count(*) AS n FROM outbox WHERE processed_at IS NULL');
    if (Number(row?.n) < 5) return;
  }
}

/** One statement in an outbox's database; about the database itself it goes to another one, as that may take no connections. */
async function rows<R extends pg.QueryResultRow>(world: World, outbox: string, text: string, values?: unknown[]): Promise<R[]> {
  const url = new URL(world.databases[outbox] ?? '');
  if (/DATABASE|pg_terminate_backend/.test(text)) url.pathname = '/postgres';
  return withClient(url.href, async (client) => (await client.query<R>(text, values)).rows);
}
