/** Both engines at once: most of the time is waiting for a minute to end. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDirectory } from '@/lib/outbox/directory';
import { openStore } from '@/lib/store/store';
import type { EngineKey } from '@/lib/shared/model';
import { usePublishers, type Publishers } from '@/fixtures/collector/publishers';
import { ORDERS, eventually, timingOn, useStage, type Stage } from '@/fixtures/collector/stage';
import type { Collector } from './collector';

/** Call once at the top of a suite: a stage with the orders of an engine, empty before each test. */
function useOrders(engine: EngineKey): Stage & Publishers & { published(): Promise<number> } {
  const { outbox, create, table } = ORDERS[engine];
  const stage = useStage([outbox], create, engine);
  beforeEach(() => stage.observed.query(`truncate ${table}`));
  return Object.assign(stage, usePublishers(engine, stage), {
    async published() {
      const [row] = await stage.observed.query<{ n: string }>(`select count(*) as n from ${table} where published_at is not null`);
      return Number(row?.n);
    },
  });
}

/** Collectors that fight for the lease, that die, and one that loses its connections, which is left. */
async function disturb({ observed, kept, collect }: Stage, engine: EngineKey, mostSeconds = timingOn(engine).most): Promise<Collector> {
  const timing = timingOn(engine);
  // Two that take the lease from each other with every other tick.
  const fighters = [1, 2].map(() => collect({ timing: { ...timing, lease: 0.15 } }));
  await sleep(4_000);
  await Promise.all(fighters.map((fighter) => fighter.stop()));
  // Some that die at some moment of their work: their connections to the store are gone, and their lease is not given back.
  for (let life = 0; life < 5; life += 1) {
    const own = openStore(kept.url);
    const directory = createDirectory({ databases: [{ id: 'test', url: observed.url }], outboxes: [ORDERS[engine].outbox] });
    const dying = collect({ store: own, directory, timing: { ...timing, lease: 0.4 } });
    await sleep(700 + Math.random() * 300);
    await own.close();
    await dying.stop();
    await directory.close();
    await sleep(400);
  }
  const left = collect({ timing: { ...timing, most: mostSeconds } });
  for (let cut = 0; cut < 3; cut += 1) {
    await sleep(700);
    await END_CONNECTIONS[engine](observed);
  }
  return left;
}

/** Ends half of the collector's connections and half of the publishers'. */
const END_CONNECTIONS: Record<EngineKey, (observed: Stage['observed']) => Promise<unknown>> = {
  postgres: (observed) =>
    observed.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'vitest' and random() < 0.5`,
    ),
  async mysql(observed) {
    const rows = await observed.query<{ id: string }>(
      `select distinct processlist_id as id from performance_schema.session_connect_attrs
       where attr_name = 'program_name' and (attr_value = 'service' or attr_value like 'outbox-console/collector%')
         and processlist_id in (select id from information_schema.processlist where db = database()) and rand() < 0.5`,
    );
    // One that has gone by itself cannot be ended.
    await Promise.all(rows.map(({ id }) => observed.query(`kill ${id}`).catch(() => undefined)));
  },
};

describe.concurrent('every event is counted once', () => {
  const stage = useOrders('postgres');
  const { observed, collect, progress, errors, traffic, booksMatch } = stage;
  const OUTBOX = ORDERS.postgres.outbox.id;

  it.sequential(
    'under held transactions, savepoints, lost connections, collectors that die, and leases that pass on all the time',
    async () => {
      const going = traffic(2_000);
      await disturb(stage, 'postgres');
      await going.stop();
      await booksMatch(20_000);
      expect(await stage.published()).toBeGreaterThan(500);
    },
  );

  it.sequential('when another transaction holds the horizon: folded after a while, marked, and recounted when it has ended', async () => {
    await observed.query('create table public.foreign_work (n int)');
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

describe.concurrent('every event is counted once where the server tells nothing of its transactions', () => {
  const stage = useOrders('mysql');
  const { collect, progress, total, errors, traffic, booksMatch, published } = stage;
  const OUTBOX = ORDERS.mysql.outbox.id;

  it.sequential('by the lag alone, where its transaction ends within it', async () => {
    const collector = collect({ timing: { ...timingOn('mysql'), most: 3, recount: 3_600 } });
    await eventually(() => expect(collector.status(OUTBOX).state).toBe('collecting'));
    const going = traffic(1_500);
    await sleep(4_000);
    await going.stop();
    const truth = await published();
    expect(truth).toBeGreaterThan(100);
    await eventually(async () => expect((await total(OUTBOX)).published).toBe(truth));
    expect(errors).toEqual([]);
  });

  it.sequential(
    'under transactions held far longer than the lag, savepoints, lost connections, collectors that die, and leases that pass on',
    async () => {
      const going = traffic(7_000);
      const collector = await disturb(stage, 'mysql', 0.5);
      const marked = (await progress(OUTBOX))?.suspects ?? [];
      expect(marked).not.toEqual([]);
      await going.stop();
      await booksMatch(90_000);
      expect(await published()).toBeGreaterThan(200);
      // A minute has to end before it can be recounted, also where the books match before.
      await eventually(async () => {
        const suspects = (await progress(OUTBOX))?.suspects ?? [];
        expect(suspects.filter((minute) => marked.includes(minute))).toEqual([]);
      });
      expect(collector.status(OUTBOX).state).toBe('collecting');
    },
  );
});
