/** What a run does not take for a slow relay: an outage, a rest that is too long now, events that somebody else has locked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRunTable, isOver, openRunWorld, startRelay, type RunProcess, type RunWorld } from '@/fixtures/runs';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { changeRunAs } from './start';

const range = (to: number): number[] => Array.from({ length: to }, (_, at) => at + 1);

describe.each(ENGINE_KEYS)('a run on %s', (engine) => {
  const database = useTestDatabaseOf(engine, createRunTable);
  const storeDatabase = useTestDatabase();
  let world: RunWorld;
  let process: RunProcess;
  let relay: ReturnType<typeof startRelay>;

  beforeAll(async () => {
    world = await openRunWorld(database, storeDatabase);
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    await database.query('DELETE FROM mine');
    process = await world.process();
    relay = startRelay(database);
  });
  afterEach(() => Promise.all([process.end(), relay.stop()]));

  it('does not blame the relay for the time in which its database was away', async () => {
    await process.end();
    process = await world.process({ noFateMs: 2_000 });
    await world.dead(range(60));
    let sent = 0;
    process.at.send = () => {
      if ((sent += 1) !== 4) return;
      process.line.cut();
      // It takes nothing at the first look.
      const stopped = relay.stop();
      process.at.committed = () => {
        process.at.committed = undefined;
        void Promise.all([stopped, sleep(300)]).then(() => (relay = startRelay(database)));
      };
    };
    const id = await world.start();
    await world.until(id, ({ because }) => because === 'unavailable');
    // Longer than a relay may take nothing.
    await sleep(2_500);
    process.line.mend();
    const run = await world.until(id, (one) => isOver(one) || (one.state === 'paused' && one.because !== 'unavailable'));
    expect(run).toMatchObject({ state: 'done', changed: 60 });
  });

  it('rests no longer than the pace of now says', async () => {
    await world.dead(range(40));
    const id = await world.start(undefined, { pace: { ratePerSecond: 0.1 } });
    await world.until(id, ({ fates }) => fates.published === 1);
    await changeRunAs(world.deps, world.maker, id, 'pace', { share: 1, ratePerSecond: null });
    expect(await world.until(id, isOver, 8_000)).toMatchObject({ changed: 40 });
  });

  it('archives events that were locked when they are not any more, and counts those that stay so', async () => {
    // So many that MySQL locks by key, not all rows.
    await world.dead(range(400));
    const { write } = world.open.outbox.database;
    if (write === null) throw new Error('no operator');
    let id = '';
    await write(
      async (db) => {
        await sql`select id from mine where id in (1, 2, 3, 4, 5, 6) for update`.execute(db);
        id = await world.start({ ids: range(40).map(String) }, { operation: 'archive' });
        await world.until(id, ({ changed }) => changed === 34);
        expect(isOver(await world.run(id))).toBe(false);
      },
      { idleMs: 60_000 },
    );
    const run = await world.until(id, isOver);
    expect(run.remaining).toBe(0);
    expect(run.changed + run.locked).toBe(40);
  });
});
