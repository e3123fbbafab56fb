/** Runs from their start to their end, on both engines, with a relay: pace, order, pauses and what people do to them. */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  changesOf,
  createRunTable,
  isOver,
  openRunWorld,
  startRelay,
  WARNING_SHAPE,
  type RunProcess,
  type RunWorld,
} from '@/fixtures/runs';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { updateAccount } from '@/lib/store/accounts';
import { useTestDatabase } from '@/scripts/testing/database';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { changeRunAs } from './start';
import { leftoverIds } from './leftovers';

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

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
  });
  afterEach(async () => {
    await Promise.all([process.end(), relay.stop()]);
    expect(process.errors).toEqual([]);
  });
  const stateOf = async (id: number) =>
    Number((await database.query<{ state: unknown }>(`SELECT state FROM mine WHERE id = ${id}`))[0]?.state);

  it('sends one first, then more at the pace of the relay, and tells what became of each', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 150));
    const id = await world.start();
    const first = await world.until(id, ({ fates }) => fates.published >= 1);
    expect(first.window.size).toBeLessThanOrEqual(1);
    const run = await world.until(id, isOver);
    expect(run).toMatchObject({ changed: 150, remaining: 0, fates: { published: 150, waiting: 0 }, left: {}, because: null });
    expect(relay.delivered.sort((a, b) => a - b)).toEqual(range(1, 150));
    expect([...(await changesOf(database))].every(([, n]) => n === 1)).toBe(true);
  });

  it('touches one of all where the sink still refuses', async () => {
    relay = startRelay(database, (id) => `node ${id + 1000} refused it`);
    await world.dead(range(1, 40));
    const id = await world.start();
    const run = await world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({ because: 'same_cause', changed: 1, remaining: 39, fates: { failedAgain: 1 }, left: { failed_again: 1 } });
    expect(run.error).toBe('node 1001 refused it');
    expect(await leftoverIds(world.store.db, id, ['failed_again'])).toEqual(['1']);
    expect(await leftoverIds(world.store.db, id, ['remaining'])).toHaveLength(39);
  });

  it('goes on with one after the cause was there again and somebody resumes it', async () => {
    let broken = true;
    relay = startRelay(database, () => (broken ? 'node 7 refused it' : null));
    await world.dead(range(1, 12));
    const id = await world.start();
    await world.until(id, ({ because }) => because === 'same_cause');
    broken = false;
    await changeRunAs(world, world.maker, id, 'resume');
    const run = await world.until(id, isOver);
    expect(run).toMatchObject({ changed: 12, fates: { published: 11, failedAgain: 1 } });
  });

  it('touches one where no relay runs, and says so', async () => {
    relay = startRelay(database, undefined, 0);
    await world.dead(range(1, 20));
    const id = await world.start();
    const run = await world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({ because: 'relay_takes_nothing', changed: 1, fates: { waiting: 1 }, remaining: 19 });
    await relay.stop();
    relay = startRelay(database);
    // Its fate is followed, though it sends nothing.
    await world.until(id, ({ fates }) => fates.published === 1);
    await changeRunAs(world, world.maker, id, 'resume');
    await world.until(id, ({ fates }) => fates.published === 20);
  });

  it('keeps the order of an aggregate, and blocks what follows one that failed', async () => {
    relay = startRelay(database, (id) => (id === 30 ? 'another error' : null));
    await world.dead(range(1, 60), (id) => `order-${id % 3}`);
    const id = await world.start();
    const run = await world.until(id, isOver);
    // 30 is of the same order as 33, 36, ... 60.
    expect(run).toMatchObject({
      changed: 50,
      conflicted: 10,
      left: { blocked_by_order: 10, failed_again: 1 },
      fates: { published: 49, failedAgain: 1 },
    });
    for (const order of [0, 1, 2]) {
      const own = relay.delivered.filter((one) => one % 3 === order);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    expect(await leftoverIds(world.store.db, id, ['blocked_by_order'])).toEqual(range(11, 20).map((one) => String(one * 3)));
  });

  it('leaves alone what changed since, and counts it', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 10));
    await process.end();
    const id = await world.start();
    await database.query('UPDATE mine SET state = 2 WHERE id = 4');
    await database.query(`UPDATE mine SET note = 'again' WHERE id = 5`);
    await database.query('DELETE FROM mine WHERE id = 6');
    process = await world.process();
    const run = await world.until(id, isOver);
    expect(run).toMatchObject({ changed: 7, conflicted: 3, left: { already_published: 1, changed_since_seen: 1, not_found: 1 } });
  });

  it('pauses with a batch under way, whose answer is kept, and goes on', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 30));
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    let sent = 0;
    process.at.send = () => ((sent += 1) === 3 ? held : undefined);
    const id = await world.start();
    await expect.poll(() => sent).toBe(3);
    await changeRunAs(world, world.maker, id, 'pause');
    go();
    const paused = await world.until(id, ({ changed }) => changed >= 8);
    expect(paused).toMatchObject({ state: 'paused', because: 'operator', changed: 8 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await world.run(id)).toMatchObject({ changed: 8, fates: { published: 8 } });
    await changeRunAs(world, world.maker, id, 'resume');
    expect(await world.until(id, isOver)).toMatchObject({ changed: 30, fates: { published: 30 } });
  });

  it('is cancelled with a batch under way, and knows what became of it', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 30));
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    process.at.send = () => held;
    const id = await world.start();
    await world.until(id, ({ state }) => state === 'running');
    await changeRunAs(world, world.maker, id, 'cancel');
    go();
    const run = await world.until(id, ({ endedAt }) => endedAt !== null);
    expect(run).toMatchObject({ state: 'cancelled', remaining: 30 - run.changed });
    await world.until(id, ({ fates, changed }) => fates.published === changed);
    await expect(changeRunAs(world, world.maker, id, 'resume')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('stops when its maker may not operate any more', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 30));
    let sent = 0;
    process.at.send = async () => {
      if ((sent += 1) === 3) await updateAccount(world.store.db, world.maker.name, { disabled: true });
    };
    const id = await world.start();
    const run = await world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({ because: 'not_allowed', changed: 8, remaining: 22 });
    await updateAccount(world.store.db, world.maker.name, { disabled: false });
    await changeRunAs(world, world.maker, id, 'resume');
    await world.until(id, isOver);
  });

  it('stops when its outbox takes no changes, with a batch declared, which goes first when it is resumed', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 30));
    const operator = engine === 'postgres' ? `o_${database.name}` : `o_${database.name}@'%'`;
    const table = engine === 'postgres' ? 'mine' : `${database.name}.mine`;
    const may = (verb: string) => database.query(`${verb} UPDATE (state) ON ${table} ${verb === 'GRANT' ? 'TO' : 'FROM'} ${operator}`);
    let sent = 0;
    process.at.send = async () => {
      if ((sent += 1) === 3) await may('REVOKE');
    };
    const id = await world.start();
    const run = await world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({ because: 'read_only', changed: 3, remaining: 27 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sent).toBe(3);
    // It was not committed: it is not sent in the name of somebody who may not any more.
    await updateAccount(world.store.db, world.maker.name, { disabled: true });
    await changeRunAs(world, world.maker, id, 'resume');
    await world.until(id, ({ because }) => because === 'not_allowed');
    await updateAccount(world.store.db, world.maker.name, { disabled: false });
    expect(sent).toBe(3);
    await may('GRANT');
    await changeRunAs(world, world.maker, id, 'resume');
    expect(await world.until(id, isOver)).toMatchObject({ changed: 30 });
  });

  it('stops when events created since wait longer than any did before', async () => {
    relay = startRelay(database);
    await process.end();
    process = await world.process({ freshMs: 300, freshEveryMs: 50 });
    await world.dead(range(1, 3_000));
    const id = await world.start();
    await world.until(id, ({ changed }) => changed >= 8);
    await database.query(`INSERT INTO mine (id, kind, body) VALUES (-1, 'fresh', '{}')`);
    const run = await world.until(id, ({ state }) => state !== 'running');
    expect(run).toMatchObject({ state: 'paused', because: 'fresh_events_wait' });
    await database.query('DELETE FROM mine WHERE id = -1');
    await changeRunAs(world, world.maker, id, 'resume');
    await changeRunAs(world, world.maker, id, 'cancel');
    await world.until(id, ({ endedAt }) => endedAt !== null);
  });

  it('tries locked events last, three times', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 12));
    const id = await world.start();
    await holdingLocks([2, 3, 4, 5, 6], async () => {
      const run = await world.until(id, ({ locked }) => locked === 5);
      expect(run).toMatchObject({ changed: 7, left: { locked: 5 } });
    });
    expect(await world.until(id, isOver)).toMatchObject({ changed: 7, locked: 5 });
    expect(await stateOf(2)).toBe(3);
  });

  it('runs one after the other, and an archive in batches without fates', async () => {
    relay = startRelay(database);
    await world.dead(range(1, 260));
    const ids = range(1, 60).map(String);
    const first = await world.start({ ids });
    const second = await world.start({ ids: range(61, 260).map(String) }, { operation: 'archive' });
    const run = await world.until(second, isOver);
    expect(await world.run(first)).toMatchObject({ state: 'done', changed: 60 });
    expect(run).toMatchObject({ changed: 200, followed: false, fates: { published: 0, waiting: 0 } });
  });

  /** Another session has these rows. */
  async function holdingLocks(ids: readonly number[], work: () => Promise<void>): Promise<void> {
    const { write } = world.open.outbox.database;
    if (write === null) throw new Error('no operator');
    await write(
      async (db) => {
        await sql`select id from mine where id in (${sql.join([...ids])}) for update`.execute(db);
        await work();
      },
      { idleMs: 60_000 },
    );
  }
});

describe('a run of a plan that warns', () => {
  const database = useTestDatabase(createRunTable);
  const storeDatabase = useTestDatabase();

  it('waits for a word after the first event is out', async () => {
    const world = await openRunWorld(database, storeDatabase, WARNING_SHAPE);
    const [process, relay] = [await world.process(), startRelay(database)];
    try {
      await world.dead(range(1, 20));
      const id = await world.start();
      const run = await world.until(id, ({ state }) => state === 'paused');
      expect(run).toMatchObject({ because: 'first_is_out', changed: 1, fates: { published: 1 }, firstOutMs: expect.any(Number) });
      await changeRunAs(world, world.maker, id, 'resume');
      expect(await world.until(id, isOver)).toMatchObject({ changed: 20, fates: { published: 20 } });
    } finally {
      await Promise.all([process.end(), relay.stop()]);
      await world.close();
    }
  });
});
