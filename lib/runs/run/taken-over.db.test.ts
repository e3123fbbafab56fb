/** A run whose process dies, hangs or loses a line, wherever it is: another goes on, the totals are the same, and each event is changed once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  changesOf,
  createRunTable,
  forgetRunning,
  isOver,
  openRunWorld,
  startRelay,
  type RunProcess,
  type RunWorld,
} from '@/fixtures/runs';
import { seeded } from '@/fixtures/library-writers';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { changeRunAs } from './start';

const EVENTS = 45;
const IDS = Array.from({ length: EVENTS }, (_, at) => at + 1);
/** Where a process can be. */
const POINTS = ['look', 'send', 'committed'] as const;
/** Of a run that nothing happened to: 9 is of the same aggregate as 19, 29 and 39, and dies again. */
const UNDISTURBED = {
  ...{ state: 'done', requested: EVENTS, changed: EVENTS - 3, conflicted: 3, locked: 0, failed: 0, unknown: 0, remaining: 0 },
  ...{ fates: { published: EVENTS - 4, failedAgain: 1, gone: 0, waiting: 0, notKnown: 0 }, left: { failed_again: 1, blocked_by_order: 3 } },
};

describe.each(ENGINE_KEYS)('a run on %s', (engine) => {
  const database = useTestDatabaseOf(engine, createRunTable);
  const storeDatabase = useTestDatabase();
  let world: RunWorld;
  let relay: ReturnType<typeof startRelay>;
  let processes: RunProcess[] = [];
  let before = new Map<number, number>();

  beforeAll(async () => {
    world = await openRunWorld(database, storeDatabase);
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    await database.query('DELETE FROM mine');
    await world.dead(IDS, (id) => `order-${String(id % 10)}`);
    relay = startRelay(database, (id) => (id === 9 ? 'of another kind' : null));
    before = await changesOf(database);
  });
  afterEach(async () => {
    await Promise.all([...processes.map((one) => one.end()), relay.stop()]);
    processes = [];
  });
  const process = async (): Promise<RunProcess> => {
    const one = await world.process();
    processes.push(one);
    return one;
  };
  /** Dies when it gets to this point for the nth time. */
  const dyingAt = async (point: (typeof POINTS)[number], nth: number): Promise<{ died: Promise<void> }> => {
    const one = await process();
    let seen = 0;
    const died = new Promise<void>((resolve) => {
      one.at[point] = () => {
        if ((seen += 1) !== nth) return;
        one.kill();
        resolve();
      };
    });
    return { died };
  };
  const requireUndisturbed = async (id: string): Promise<void> => {
    const run = await world.until(id, isOver);
    expect(run).toMatchObject(UNDISTURBED);
    const changes = await changesOf(database);
    const own = IDS.map((event) => (changes.get(event) ?? 0) - (before.get(event) ?? 0));
    expect(own).toEqual(IDS.map((event) => (event % 10 === 9 && event > 9 ? 0 : 1)));
    expect([...relay.delivered].sort((a, b) => a - b)).toEqual(IDS.filter((event) => event % 10 !== 9));
  };

  it('ends the same with one process, and with two', async () => {
    const id = await world.start();
    await Promise.all([process(), process()]);
    await requireUndisturbed(id);
  });

  it.each([
    ['before anything was declared', 'look', 2],
    ['before its second batch was declared', 'look', 6],
    ['after a batch was declared, before it was sent', 'send', 1],
    ['the same in the middle', 'send', 4],
    ['after a batch was committed, before its answer was stored', 'committed', 1],
    ['the same in the middle', 'committed', 3],
  ] as const)('ends the same when its process dies %s', async (_, point, nth) => {
    const { died } = await dyingAt(point, nth);
    const id = await world.start();
    await died;
    await process();
    await requireUndisturbed(id);
  });

  it.each([1, 2, 3, 4, 5])('ends the same when processes die one after the other at random moments, seed %i', async (seed) => {
    const random = seeded(seed);
    const id = await world.start();
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const point = POINTS[Math.floor(random() * POINTS.length)] ?? 'look';
      const { died } = await dyingAt(point, 1 + Math.floor(random() * 3));
      await Promise.race([died, world.until(id, isOver)]);
    }
    await process();
    await requireUndisturbed(id);
  });

  it('writes nothing more when a process wakes up after another took over, and its repeated batch is the same', async () => {
    const sleeper = await process();
    let wake = (): void => undefined;
    let sent = 0;
    const awake = new Promise<void>((resolve) => (wake = resolve));
    const asleep = new Promise<void>((resolve) => {
      sleeper.at.send = async () => {
        if ((sent += 1) !== 3) return;
        // A process that is stopped renews nothing.
        sleeper.storeLine.cut();
        forgetRunning();
        resolve();
        await awake;
      };
    });
    const id = await world.start();
    await asleep;
    await process();
    const beyond = await world.until(id, ({ changed }) => changed > 8);
    expect(beyond.changed).toBeGreaterThan(8);
    sleeper.storeLine.mend();
    wake();
    await requireUndisturbed(id);
    expect(sent).toBe(3);
  });

  it('settles what may have been committed before it sends more, by the same process', async () => {
    const one = await process();
    let sent = 0;
    one.at.send = () => {
      if ((sent += 1) === 3) one.line.breakAt('after', () => one.line.cut());
    };
    const id = await world.start();
    const doubtful = await world.until(id, ({ unknown }) => unknown > 0);
    expect(doubtful).toMatchObject({ changed: 3, unknown: 5 });
    one.line.mend();
    await requireUndisturbed(id);
  });

  it('settles it by another process, of a run that was cancelled since', async () => {
    const { died } = await dyingAt('committed', 3);
    const id = await world.start();
    await died;
    await changeRunAs(world.deps, world.maker, id, 'cancel');
    await process();
    const run = await world.until(id, ({ endedAt }) => endedAt !== null);
    expect(run).toMatchObject({ state: 'cancelled', changed: 8, remaining: EVENTS - 8 });
  });

  it('goes on by itself after its database was away', async () => {
    const one = await process();
    let sent = 0;
    one.at.send = () => {
      if ((sent += 1) === 4) one.line.cut();
    };
    const id = await world.start();
    expect(await world.until(id, ({ because }) => because === 'unavailable')).toMatchObject({ state: 'paused' });
    one.line.mend();
    await requireUndisturbed(id);
  });

  it('goes on by itself after its store was away', async () => {
    const one = await process();
    let sent = 0;
    one.at.committed = () => {
      if ((sent += 1) === 3) one.storeLine.cut();
    };
    const id = await world.start();
    await expect.poll(() => sent, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    await sleep(300);
    expect(await world.run(id)).toMatchObject({ changed: 3 });
    one.storeLine.mend();
    await requireUndisturbed(id);
  });
});
