/** What a run does not take for a slow relay: an outage, a rest that is too long now, events that somebody else has locked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { isOver, startRelay } from '@/fixtures/runs';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { useRuns } from '@/scripts/testing/runs';
import { changeRunAs } from './start';

const range = (to: number): number[] => Array.from({ length: to }, (_, at) => at + 1);

describe.each(ENGINE_KEYS)('a run on %s', (engine) => {
  const { database, on } = useRuns(engine);

  beforeEach(() => {
    on.relay = startRelay(database);
  });

  it('does not blame the relay for the time in which its database was away', async () => {
    await on.process.end();
    on.process = await on.world.process({ noFateMs: 2_000 });
    await on.world.dead(range(60));
    let sent = 0;
    on.process.at.send = () => {
      if ((sent += 1) !== 4) return;
      on.process.line.cut();
      // It takes nothing at the first look.
      const stopped = on.relay.stop();
      on.process.at.committed = () => {
        on.process.at.committed = undefined;
        void Promise.all([stopped, sleep(300)]).then(() => (on.relay = startRelay(database)));
      };
    };
    const id = await on.world.start();
    await on.world.until(id, ({ because }) => because === 'unavailable');
    // Longer than a relay may take nothing.
    await sleep(2_500);
    on.process.line.mend();
    const run = await on.world.until(id, (one) => isOver(one) || (one.state === 'paused' && one.because !== 'unavailable'));
    expect(run).toMatchObject({ state: 'done', changed: 60 });
  });

  it('rests no longer than the pace of now says', async () => {
    await on.world.dead(range(40));
    const id = await on.world.start(undefined, { pace: { ratePerSecond: 0.1 } });
    await on.world.until(id, ({ fates }) => fates.published === 1);
    await changeRunAs(on.world.deps, on.world.maker, id, 'pace', { share: 1, ratePerSecond: null });
    expect(await on.world.until(id, isOver, 8_000)).toMatchObject({ changed: 40 });
  });

  it('looks at the fates of a window under way, however slow a pace is set meanwhile', async () => {
    await on.world.dead(range(40));
    const id = await on.world.start();
    await on.world.until(id, ({ window, fates }) => fates.published === 1 && window.size === 1);
    // The relay takes nothing while the second window goes out.
    await on.relay.stop();
    await on.world.until(id, ({ fates }) => fates.waiting > 0);
    await changeRunAs(on.world.deps, on.world.maker, id, 'pace', { share: 0.05, ratePerSecond: 0.1 });
    const before = (await on.world.run(id)).changed;
    on.relay = startRelay(database);
    const run = await on.world.until(id, ({ fates }) => fates.waiting === 0, 5_000);
    expect(run.changed).toBe(before);
  });

  it('keeps a rate where nothing is sent', async () => {
    // Others than those that are archived elsewhere.
    const ids = range(200).map((one) => 1_000 + one);
    await on.world.dead(ids);
    const id = await on.world.start({ ids: ids.map(String) }, { operation: 'archive', pace: { ratePerSecond: 10 } });
    await on.world.until(id, ({ changed }) => changed > 0);
    await sleep(1_000);
    // Twenty each two seconds.
    expect((await on.world.run(id)).changed).toBeLessThanOrEqual(40);
    await changeRunAs(on.world.deps, on.world.maker, id, 'pace', { share: 1, ratePerSecond: null });
    expect(await on.world.until(id, isOver)).toMatchObject({ changed: 200 });
  });

  it('goes on at a rate that is set meanwhile, without resting for all that went before', async () => {
    const ids = range(3_000).map((one) => 10_000 + one);
    await on.world.dead(ids);
    const id = await on.world.start({ ids: ids.map(String) }, { operation: 'archive' });
    await on.world.until(id, ({ changed }) => changed > 0);
    await changeRunAs(on.world.deps, on.world.maker, id, 'pace', { share: 1, ratePerSecond: 10 });
    await sleep(500);
    const { changed: before } = await on.world.run(id);
    expect(await on.world.until(id, ({ changed }) => changed > before, 8_000)).toMatchObject({ state: 'running' });
    await changeRunAs(on.world.deps, on.world.maker, id, 'pace', { share: 1, ratePerSecond: null });
    expect(await on.world.until(id, isOver)).toMatchObject({ changed: 3_000 });
  });

  it('is not over, once cancelled without its outbox, before it is known what became of its last batch', async () => {
    await on.world.dead(range(30));
    const dying = on.process;
    let sent = false;
    dying.at.send = () => {
      sent = true;
      dying.kill();
    };
    const id = await on.world.start();
    await expect.poll(() => sent, { timeout: 30_000 }).toBe(true);
    const { deps, maker } = on.world;
    const cancelled = await changeRunAs({ ...deps, directory: { ...deps.directory, ids: [] } }, maker, id, 'cancel');
    expect([cancelled.state, cancelled.endedAt]).toEqual(['cancelled', null]);
    await dying.end();
    on.process = await on.world.process();
    await on.world.until(id, ({ endedAt }) => endedAt !== null);
  });

  it('archives events that were locked when they are not any more, and counts those that stay so', async () => {
    // So many that MySQL locks by key, not all rows.
    await on.world.dead(range(400));
    const { write } = on.world.open.outbox.database;
    if (write === null) throw new Error('no operator');
    let id = '';
    await write(
      async (db) => {
        await sql`select id from mine where id in (1, 2, 3, 4, 5, 6) for update`.execute(db);
        id = await on.world.start({ ids: range(40).map(String) }, { operation: 'archive' });
        await on.world.until(id, ({ changed }) => changed === 34);
        expect(isOver(await on.world.run(id))).toBe(false);
      },
      { idleMs: 60_000 },
    );
    const run = await on.world.until(id, isOver);
    expect(run.remaining).toBe(0);
    expect(run.changed + run.locked).toBe(40);
  });
});
