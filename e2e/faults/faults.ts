/** What breaks in a run, and how it is mended. */
import type { Random } from '@/demo/random';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import type { Break } from '@/scripts/testing/breaking-line';
import type { SentKey } from './evidence';
import { sleep } from './operators';
import type { Place } from './place';
import type { Lines, World } from './world';

export interface Scene {
  world: World;
  place: Place;
  lines: Lines;
  hand: Random;
  keys: SentKey[];
}

export interface Fault {
  key: string;
  engines: readonly EngineKey[];
  /** Operators send as many events at once as they can. */
  bulk?: true;
  /** Breaks it, keeps it broken for some seconds, and mends it; answers what went wrong besides. */
  strike(scene: Scene): Promise<string[]>;
}

/** How long something is away, in milliseconds. */
const away = (hand: Random): Promise<void> => sleep(hand.int(800, 3_500));
const LONGEST_WAIT_MS = 60_000;

/** Commits break at the operator's line several times; in every other run its server is away from then on, for a while. */
function atCommit(when: Break, times: number): Fault['strike'] {
  return async ({ lines, hand }) => {
    const cuts = hand.chance(0.5);
    let left = times;
    let done: () => void = () => undefined;
    const broke = new Promise<void>((resolve) => (done = resolve));
    const onBreak = (): void => {
      left -= 1;
      if (left > 0) return lines.operator.breakAt(when, onBreak);
      if (cuts) for (const line of [lines.reader, lines.operator]) line.cut();
      done();
    };
    lines.operator.breakAt(when, onBreak);
    await Promise.race([broke, sleep(LONGEST_WAIT_MS)]);
    if (cuts) await away(hand);
    for (const line of [lines.reader, lines.operator]) line.mend();
    return left > 0 ? [`no commit broke ${when}`] : [];
  };
}

/** Ends the connections of the console, and in every other run those of relay and service too. */
async function terminate({ place: { database }, hand }: Scene): Promise<string[]> {
  const everybody = hand.chance(0.5);
  for (let round = 0; round < 4; round += 1) {
    if (database.engine === 'postgres')
      await database
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()
            ${everybody ? '' : "AND usename ~ '^[ro]_'"}`,
        )
        .catch(() => undefined);
    else {
      const threads = await database.query<{ id: string }>(
        `SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND db = database() ${everybody ? '' : "AND user REGEXP '^[ro]_'"}`,
      );
      for (const { id } of threads) await database.query(`KILL ${id}`).catch(() => undefined);
    }
    await sleep(hand.int(100, 500));
  }
  return [];
}

/** Resolves while an intervention is on its way: what strikes then strikes it. */
async function untilOneIsUnderWay(keys: SentKey[]): Promise<void> {
  const open = (): number => keys.filter(({ tries }) => tries.length === 0).length;
  for (const until = Date.now() + LONGEST_WAIT_MS; open() === 0 && Date.now() < until;) await sleep(1);
}

export const FAULTS: Fault[] = [
  { key: 'backends terminated', engines: ENGINE_KEYS, strike: terminate },
  { key: 'cut before COMMIT', engines: ENGINE_KEYS, strike: atCommit('before', 3) },
  { key: 'cut inside COMMIT', engines: ENGINE_KEYS, strike: atCommit('inside', 3) },
  { key: 'cut after COMMIT', engines: ENGINE_KEYS, strike: atCommit('after', 3) },
  { key: 'answer swallowed', engines: ENGINE_KEYS, strike: atCommit('swallowed', 1) },
  {
    key: 'immediate stop',
    engines: ['postgres'],
    async strike({ world, hand, keys }) {
      await untilOneIsUnderWay(keys);
      await world.postgres.stopAtOnce();
      await away(hand);
      await world.postgres.start();
      return [];
    },
  },
  {
    key: 'console killed',
    engines: ENGINE_KEYS,
    async strike({ world, lines, hand, keys }) {
      // At once after a commit was sent, or in the middle of anything.
      if (hand.chance(0.5)) {
        let killed: Promise<void> = Promise.resolve();
        const broke = new Promise<void>((resolve) =>
          lines.operator.breakAt('after', () => {
            killed = world.console.kill();
            resolve();
          }),
        );
        await Promise.race([broke, sleep(LONGEST_WAIT_MS)]);
        await killed;
        lines.operator.mend();
      } else {
        await untilOneIsUnderWay(keys);
        await sleep(hand.int(0, 20));
        await world.console.kill();
      }
      await world.console.start();
      return [];
    },
  },
  {
    key: 'store away',
    engines: ENGINE_KEYS,
    async strike({ world, hand }) {
      world.storeLine.cut();
      await away(hand);
      world.storeLine.mend();
      return [];
    },
  },
  {
    key: 'both away',
    engines: ENGINE_KEYS,
    async strike({ world, lines, hand }) {
      const all = [lines.reader, lines.operator, world.storeLine];
      const broke = new Promise<void>((resolve) =>
        lines.operator.breakAt(hand.pick(['after', 'inside', 'before']), () => {
          for (const line of all) line.cut();
          resolve();
        }),
      );
      await Promise.race([broke, sleep(LONGEST_WAIT_MS)]);
      await away(hand);
      for (const line of all) line.mend();
      return [];
    },
  },
  {
    key: 'SIGTERM in bulks',
    engines: ENGINE_KEYS,
    bulk: true,
    async strike({ world, hand, keys }) {
      await untilOneIsUnderWay(keys);
      await sleep(hand.int(0, 60));
      const ended = await world.console.end();
      await world.console.start();
      return ended ? [] : ['the console did not end after SIGTERM'];
    },
  },
];
