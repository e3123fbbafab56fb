/** Runs from their start to their end, on both engines, with a relay: pace, order, pauses and what people do to them. */
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changesOf, createRunTable, isOver, openRunWorld, startRelay, WARNING_SHAPE } from '@/fixtures/runs';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { insertAccount, updateAccount } from '@/lib/store/accounts';
import { useTestDatabase } from '@/scripts/testing/database';
import { useRuns } from '@/scripts/testing/runs';
import { changeRunAs } from './start';
import { leftoverIds } from './job';

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe.each(ENGINE_KEYS)('a run on %s', (engine) => {
  const { database, storeDatabase, on } = useRuns(engine);
  afterEach(() => {
    expect(on.process.errors).toEqual([]);
  });
  const stateOf = async (id: number) =>
    Number((await database.query<{ state: unknown }>(`SELECT state FROM mine WHERE id = ${id}`))[0]?.state);

  it('sends one first, then more at the pace of the relay, and tells what became of each', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 150));
    const id = await on.world.start();
    const first = await on.world.until(id, ({ fates }) => fates.published >= 1);
    expect(first.window.size).toBeLessThanOrEqual(1);
    const run = await on.world.until(id, isOver);
    expect(run).toMatchObject({ changed: 150, remaining: 0, fates: { published: 150, waiting: 0 }, left: {}, because: null });
    expect(on.relay.delivered.sort((a, b) => a - b)).toEqual(range(1, 150));
    expect([...(await changesOf(database))].every(([, n]) => n === 1)).toBe(true);
  });

  it('touches one of all where the sink still refuses', async () => {
    on.relay = startRelay(database, (id) => `node ${id + 1000} refused it`);
    await on.world.dead(range(1, 4_000));
    const id = await on.world.start();
    const run = await on.world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({
      because: 'same_cause',
      changed: 1,
      remaining: 3_999,
      fates: { failedAgain: 1 },
      left: { failed_again: 1 },
    });
    expect((await database.query<{ id: unknown }>('SELECT id FROM mine WHERE tries <> 5')).map((row) => Number(row.id))).toEqual([1]);
    expect(run.error).toBe('node 1001 refused it');
    expect(await leftoverIds(on.world.store.db, id, ['failed_again'])).toEqual(['1']);
    expect(await leftoverIds(on.world.store.db, id, ['remaining'])).toHaveLength(3_999);
  });

  it('goes on with one after the cause was there again and somebody resumes it', async () => {
    let broken = true;
    on.relay = startRelay(database, () => (broken ? 'node 7 refused it' : null));
    await on.world.dead(range(1, 12));
    const id = await on.world.start();
    await on.world.until(id, ({ because }) => because === 'same_cause');
    broken = false;
    await changeRunAs(on.world.deps, on.world.maker, id, 'resume');
    const run = await on.world.until(id, isOver);
    expect(run).toMatchObject({ changed: 12, fates: { published: 11, failedAgain: 1 } });
  });

  it('touches one where no relay runs, and says so', async () => {
    on.relay = startRelay(database, undefined, 0);
    await on.world.dead(range(1, 4_000));
    const id = await on.world.start();
    const run = await on.world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({ because: 'relay_takes_nothing', changed: 1, fates: { waiting: 1 }, remaining: 3_999 });
    await on.relay.stop();
    on.relay = startRelay(database);
    // Its fate is followed, though it sends nothing.
    await on.world.until(id, ({ fates }) => fates.published === 1);
    await changeRunAs(on.world.deps, on.world.maker, id, 'resume');
    await on.world.until(id, ({ fates }) => fates.published > 100);
    await changeRunAs(on.world.deps, on.world.maker, id, 'cancel');
    await on.world.until(id, ({ endedAt }) => endedAt !== null);
  });

  it('keeps the order of an aggregate, and blocks what follows one that failed', async () => {
    on.relay = startRelay(database, (id) => (id === 30 ? 'another error' : null));
    await on.world.dead(range(1, 60), (id) => `order-${id % 3}`);
    const id = await on.world.start();
    const run = await on.world.until(id, isOver);
    // 30 is of the same order as 33, 36, ... 60.
    expect(run).toMatchObject({
      changed: 50,
      conflicted: 10,
      left: { blocked_by_order: 10, failed_again: 1 },
      fates: { published: 49, failedAgain: 1 },
    });
    for (const order of [0, 1, 2]) {
      const own = on.relay.delivered.filter((one) => one % 3 === order);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    expect(await leftoverIds(on.world.store.db, id, ['blocked_by_order'])).toEqual(range(11, 20).map((one) => String(one * 3)));
  });

  it('is of any type that its database can hold', async () => {
    const nul = String.fromCodePoint(0);
    on.relay = startRelay(database);
    await on.world.dead([1]);
    if (engine === 'mysql') await database.query('UPDATE mine SET kind = ?', [`pa${nul}id`]);
    const id = await on.world.start();
    expect(await on.world.until(id, isOver)).toMatchObject({ changed: 1 });
  });

  it('plans what it left once it is cancelled, locked events among them', async () => {
    on.relay = startRelay(database);
    await on.process.end();
    // Long before they are tried a third time.
    on.process = await on.world.process({ retryMs: 60_000 });
    await on.world.dead(range(1, 3));
    const id = await on.world.start();
    await holdingLocks([1, 2, 3], async () => {
      await on.world.until(id, ({ beganAt }) => beganAt !== null);
      await expect.poll(() => answeredBatches(id)).toBeGreaterThan(0);
      await changeRunAs(on.world.deps, on.world.maker, id, 'cancel');
      const run = await on.world.until(id, ({ endedAt }) => endedAt !== null);
      expect(run).toMatchObject({ remaining: 3, left: { remaining: 3 } });
    });
    expect(await leftoverIds(on.world.store.db, id, ['remaining'])).toEqual(['1', '2', '3']);
  });

  it('leaves alone what changed since, and counts it', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 10));
    await on.process.end();
    const id = await on.world.start();
    await database.query('UPDATE mine SET state = 2 WHERE id = 4');
    await database.query(`UPDATE mine SET note = 'again' WHERE id = 5`);
    await database.query('DELETE FROM mine WHERE id = 6');
    on.process = await on.world.process();
    const run = await on.world.until(id, isOver);
    expect(run).toMatchObject({ changed: 7, conflicted: 3, left: { already_published: 1, changed_since_seen: 1, not_found: 1 } });
  });

  it('pauses with a batch under way, whose answer is kept, and goes on', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 30));
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    let sent = 0;
    on.process.at.send = () => ((sent += 1) === 3 ? held : undefined);
    const id = await on.world.start();
    await expect.poll(() => sent).toBe(3);
    await changeRunAs(on.world.deps, on.world.maker, id, 'pause');
    go();
    const paused = await on.world.until(id, ({ changed }) => changed >= 8);
    expect(paused).toMatchObject({ state: 'paused', because: 'operator', changed: 8 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await on.world.run(id)).toMatchObject({ changed: 8, fates: { published: 8 } });
    await changeRunAs(on.world.deps, on.world.maker, id, 'resume');
    expect(await on.world.until(id, isOver)).toMatchObject({ changed: 30, fates: { published: 30 } });
  });

  it('is cancelled with a batch under way, and knows what became of it', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 30));
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    on.process.at.send = () => held;
    const id = await on.world.start();
    await on.world.until(id, ({ state }) => state === 'running');
    await changeRunAs(on.world.deps, on.world.maker, id, 'cancel');
    go();
    const run = await on.world.until(id, ({ endedAt }) => endedAt !== null);
    expect(run).toMatchObject({ state: 'cancelled', remaining: 30 - run.changed });
    await on.world.until(id, ({ fates, changed }) => fates.published === changed);
    await expect(changeRunAs(on.world.deps, on.world.maker, id, 'resume')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('stops when its maker may not operate any more', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 30));
    let sent = 0;
    on.process.at.send = async () => {
      if ((sent += 1) === 3) await updateAccount(on.world.store.db, on.world.maker.name, { disabled: true });
    };
    const id = await on.world.start();
    const run = await on.world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({ because: 'not_allowed', changed: 8, remaining: 22 });
    await updateAccount(on.world.store.db, on.world.maker.name, { disabled: false });
    await changeRunAs(on.world.deps, on.world.maker, id, 'resume');
    await on.world.until(id, isOver);
  });

  describe('a batch that was surely not committed', () => {
    const may = (verb: string) => {
      const operator = engine === 'postgres' ? `o_${database.name}` : `o_${database.name}@'%'`;
      const table = engine === 'postgres' ? 'mine' : `${database.name}.mine`;
      return database.query(`${verb} UPDATE (state) ON ${table} ${verb === 'GRANT' ? 'TO' : 'FROM'} ${operator}`);
    };
    const disabled = (is: boolean) => updateAccount(on.world.store.db, on.world.maker.name, { disabled: is });
    let [sent, id] = [0, ''];

    /** Its third batch is refused, and its maker may not operate any more. */
    beforeEach(async () => {
      on.relay = startRelay(database);
      await on.world.dead(range(1, 30));
      sent = 0;
      on.process.at.send = async () => {
        if ((sent += 1) === 3) await may('REVOKE');
      };
      id = await on.world.start();
      const run = await on.world.until(id, ({ state }) => state === 'paused');
      expect(run).toMatchObject({ because: 'read_only', changed: 3, remaining: 27, unknown: 0 });
      await on.world.until(id, ({ fates }) => fates.published === 3);
      await disabled(true);
    });
    afterEach(async () => {
      await Promise.all([disabled(false), may('GRANT')]);
    });
    const stays = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await on.world.run(id)).toMatchObject({ changed: 3, remaining: 27 });
      expect(sent).toBe(3);
    };

    it('is not sent for a maker who may not operate, however often somebody resumes it, and goes first when he may', async () => {
      await may('GRANT');
      for (let times = 1; times <= 3; times += 1) {
        await changeRunAs(on.world.deps, on.world.maker, id, 'resume');
        await on.world.until(id, ({ because }) => because === 'not_allowed');
      }
      await stays();
      await disabled(false);
      await changeRunAs(on.world.deps, on.world.maker, id, 'resume');
      expect(await on.world.until(id, isOver)).toMatchObject({ changed: 30 });
    });

    it('is not sent by a process that takes over', async () => {
      await may('GRANT');
      await on.process.end();
      on.process = await on.world.process();
      await stays();
    });

    it('is not sent by a cancel, which ends the run at once', async () => {
      await changeRunAs(on.world.deps, on.world.maker, id, 'cancel');
      await on.world.until(id, ({ endedAt }) => endedAt !== null);
      await Promise.all([may('GRANT'), disabled(false)]);
      await stays();
    });

    it('lets the next run of the outbox go', async () => {
      await may('GRANT');
      const other = await insertAccount(on.world.store.db, { email: 'other@example.com', passwordHash: 'none', role: 'operator' });
      const maker = { ...on.world.maker, id: `account:${other ?? ''}`, name: 'other@example.com' };
      const next = await on.world.start({ ids: ['30'] }, { maker });
      expect(await on.world.until(next, isOver)).toMatchObject({ changed: 1 });
      await updateAccount(on.world.store.db, 'other@example.com', { disabled: true });
    });
  });

  it('takes the answer of what another process committed, though its maker may not operate any more', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 30));
    const dying = on.process;
    let committed = 0;
    dying.at.committed = () => {
      if ((committed += 1) === 3) dying.kill();
    };
    const id = await on.world.start();
    await expect.poll(() => committed, { timeout: 30_000 }).toBe(3);
    await updateAccount(on.world.store.db, on.world.maker.name, { disabled: true });
    on.process = await on.world.process();
    const run = await on.world.until(id, ({ state }) => state === 'paused');
    expect(run).toMatchObject({ because: 'not_allowed', changed: 8, remaining: 22, unknown: 0 });
    await updateAccount(on.world.store.db, on.world.maker.name, { disabled: false });
    await dying.end();
  });

  it('takes back what may have been committed once nobody who sent it has time left', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 30));
    const dying = on.process;
    let sent = 0;
    dying.at.send = async () => {
      if ((sent += 1) !== 3) return;
      await updateAccount(on.world.store.db, on.world.maker.name, { disabled: true });
      dying.kill();
    };
    const id = await on.world.start();
    await expect.poll(() => sent, { timeout: 30_000 }).toBe(3);
    on.process = await on.world.process();
    const doubtful = await on.world.until(id, ({ state }) => state === 'paused');
    expect(doubtful).toMatchObject({ because: 'not_allowed', changed: 3, unknown: 5, remaining: 22 });
    await changeRunAs(on.world.deps, on.world.maker, id, 'cancel');
    await storeDatabase.query(`update run_batch set declared_at = declared_at - interval '31 seconds' where run_id = '${id}' and n = 3`);
    const run = await on.world.until(id, ({ endedAt }) => endedAt !== null);
    expect(run).toMatchObject({ state: 'cancelled', changed: 3, unknown: 0, remaining: 27 });
    await updateAccount(on.world.store.db, on.world.maker.name, { disabled: false });
    await dying.end();
  });

  it('stops when events created since wait longer than any did before', async () => {
    on.relay = startRelay(database);
    await on.process.end();
    on.process = await on.world.process({ freshMs: 300, freshEveryMs: 50 });
    await on.world.dead(range(1, 3_000));
    const id = await on.world.start();
    await on.world.until(id, ({ changed }) => changed >= 8);
    await database.query(`INSERT INTO mine (id, kind, body) VALUES (-1, 'fresh', '{}')`);
    const run = await on.world.until(id, ({ state }) => state !== 'running');
    expect(run).toMatchObject({ state: 'paused', because: 'fresh_events_wait' });
    await database.query('DELETE FROM mine WHERE id = -1');
    await changeRunAs(on.world.deps, on.world.maker, id, 'resume');
    await changeRunAs(on.world.deps, on.world.maker, id, 'cancel');
    await on.world.until(id, ({ endedAt }) => endedAt !== null);
  });

  it('tries locked events last, three times', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 12));
    const id = await on.world.start();
    await holdingLocks([2, 3, 4, 5, 6], async () => {
      const run = await on.world.until(id, ({ locked }) => locked === 5);
      expect(run).toMatchObject({ changed: 7, left: { locked: 5 } });
    });
    expect(await on.world.until(id, isOver)).toMatchObject({ changed: 7, locked: 5 });
    expect(await stateOf(2)).toBe(3);
  });

  it('runs one after the other, and an archive in batches without fates', async () => {
    on.relay = startRelay(database);
    await on.world.dead(range(1, 260));
    const ids = range(1, 60).map(String);
    const first = await on.world.start({ ids });
    const second = await on.world.start({ ids: range(61, 260).map(String) }, { operation: 'archive' });
    const run = await on.world.until(second, isOver);
    expect(await on.world.run(first)).toMatchObject({ state: 'done', changed: 60 });
    expect(run).toMatchObject({ changed: 200, followed: false, fates: { published: 0, waiting: 0 } });
  });

  /** Batches that have an answer. */
  const answeredBatches = async (id: string): Promise<number> =>
    (await on.world.store.db.selectFrom('run_batch').select('n').where('runId', '=', id).where('answeredAt', 'is not', null).execute())
      .length;

  /** Another session has these rows. */
  async function holdingLocks(ids: readonly number[], work: () => Promise<void>): Promise<void> {
    const { write } = on.world.open.outbox.database;
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
      await changeRunAs(world.deps, world.maker, id, 'resume');
      expect(await world.until(id, isOver)).toMatchObject({ changed: 20, fates: { published: 20 } });
    } finally {
      await Promise.all([process.end(), relay.stop()]);
      await world.close();
    }
  });
});
