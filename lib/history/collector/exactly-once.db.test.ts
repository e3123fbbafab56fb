import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createDirectory } from '@/lib/outbox/directory';
import { openStore } from '@/lib/store/store';
import { usePublishers } from '@/fixtures/collector/publishers';
import { FAST, ORDERS, eventually, useStage } from '@/fixtures/collector/stage';

const { outbox: orders, create, table } = ORDERS.postgres;
const OUTBOX = orders.id;
const stage = useStage([orders], async (observed) => {
  await create(observed);
  await observed.query('create table public.foreign_work (n int)');
});
const { observed, kept, collect, progress, errors } = stage;
const { traffic, booksMatch } = usePublishers('postgres', stage);

describe('every event is counted once', () => {
  it('under held transactions, savepoints, lost connections, collectors that die, and leases that pass on all the time', async () => {
    await observed.query(`truncate ${table}`);
    const going = traffic(2_000);
    // Two that take the lease from each other with every other look.
    const fighters = [1, 2].map(() => collect({ timing: { ...FAST, lease: 0.15 } }));
    await sleep(4_000);
    await Promise.all(fighters.map((fighter) => fighter.stop()));
    // Some that die at some moment of their work: their connections to the store are gone, and their lease is not given back.
    for (let life = 0; life < 5; life += 1) {
      const own = openStore(kept.url);
      const directory = createDirectory({ databases: [{ id: 'test', url: observed.url }], outboxes: [orders] });
      const dying = collect({ store: own, directory, timing: { ...FAST, lease: 0.4 } });
      await sleep(700 + Math.random() * 300);
      await own.close();
      await dying.stop();
      await directory.close();
      await sleep(400);
    }
    // One whose connections, and the publishers', are ended by the server.
    collect();
    for (let cut = 0; cut < 3; cut += 1) {
      await sleep(700);
      await observed.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'vitest' and random() < 0.5`,
      );
    }
    await going.stop();
    await booksMatch(20_000);
    const [counted] = await observed.query<{ n: number }>(`select count(*)::int as n from ${table} where published_at is not null`);
    expect(counted?.n).toBeGreaterThan(500);
  });

  it('when another transaction holds the horizon: folded after a while, marked, and recounted when it has ended', async () => {
    await observed.query(`truncate ${table}`);
    errors.length = 0;
    const foreign = new pg.Client({ connectionString: observed.url });
    await foreign.connect();
    await foreign.query('begin');
    await foreign.query('insert into public.foreign_work values (1)');
    const collector = collect();
    const going = traffic(5_000);
    await eventually(async () => expect((await progress(OUTBOX))?.suspects).not.toEqual([]));
    await eventually(async () => {
      const line = await stage.minutes(OUTBOX, Math.floor(Date.now() / 60_000) - 2, Math.floor(Date.now() / 60_000) + 1);
      expect([...line.values()].some(({ provisional, cell }) => provisional && cell.published > 20)).toBe(true);
    });
    await sleep(4_000);
    await going.stop();
    await foreign.query('commit');
    await foreign.end();
    // The minute has to end before it can be recounted.
    await booksMatch(75_000);
    await eventually(async () => expect((await progress(OUTBOX))?.suspects).toEqual([]));
    const line = await stage.minutes(OUTBOX, Math.floor(Date.now() / 60_000) - 5, Math.floor(Date.now() / 60_000) + 1);
    expect([...line.values()].every(({ provisional }) => !provisional)).toBe(true);
    expect(collector.status(OUTBOX).state).toBe('collecting');
    expect(errors).toEqual([]);
  });
});
