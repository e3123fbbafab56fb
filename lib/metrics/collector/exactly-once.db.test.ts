import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDirectory } from '@/lib/outbox/directory';
import { openStore } from '@/lib/store/store';
import { ALL_TYPES, seriesOfType } from '../rollup/series-key';
import { emptySlot } from '../rollup/slot';
import { sampleTables, shapeCalled, testOutbox } from '../testing';
import { FAST, eventually, useStage } from './testing';

const OUTBOX = 'orders';
const shape = shapeCalled('published-at');
const stage = useStage([testOutbox(shape, OUTBOX)], async (observed) => {
  await observed.query(sampleTables(shape, OUTBOX).join(';\n'));
  await observed.query('create table public.foreign_work (n int)');
});
const { observed, kept, collect, totals, progress, errors } = stage;

let pool: pg.Pool;
beforeAll(() => {
  pool = new pg.Pool({ connectionString: observed.url, max: 24 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
});
afterAll(() => pool.end());

/** Publishes one event as services do: some transactions stay open, some work in savepoints, some take one back. */
async function publishOne(number: number, heldMs: number): Promise<void> {
  const client = await pool.connect();
  let broken = false;
  try {
    const { rows } = await client.query<{ id: string }>(
      `insert into orders.outbox_events (id, aggregate_type, aggregate_id, event_type, payload) values (gen_random_uuid(), 'a', 'a', $1, '{}') returning id`,
      [`type ${String(number % 3)}`],
    );
    await client.query('begin');
    const update = `update orders.outbox_events set published_at = now() where id = '${rows[0]?.id ?? ''}'`;
    if (number % 3 === 0) {
      await client.query('savepoint s');
      await client.query(update);
      await client.query(number % 2 === 0 ? 'release savepoint s' : 'rollback to savepoint s');
    }
    await client.query(update);
    if (heldMs > 0) await sleep(heldMs);
    await client.query('commit');
  } catch (error) {
    // The server ended the connection: whether it is published is for the table to say.
    broken = true;
    if (!(error instanceof Error) || !/terminat|connection/i.test(error.message)) throw error;
  } finally {
    client.release(broken);
  }
}

/** Publishes until told to stop, sixteen at a time, every tenth transaction held. */
function traffic(mostHeldMs: number): { stop(): Promise<void> } {
  const state = { running: true, number: 0 };
  const writer = async (): Promise<void> => {
    while (state.running) {
      const number = (state.number += 1);
      await publishOne(number, number % 10 === 0 ? Math.random() * mostHeldMs : 0);
      await sleep(20 + Math.random() * 40);
    }
  };
  const writers = Array.from({ length: 16 }, writer);
  return {
    async stop() {
      state.running = false;
      await Promise.all(writers);
    },
  };
}

/** What the table has and the books have, by minute of publishing, type and minute of creation. */
async function compare(): Promise<{ table: unknown; books: unknown }> {
  const rows = await observed.query<{ minute: number; n: number }>(
    `select floor(extract(epoch from published_at) / 60)::int as minute, count(*)::int as n from orders.outbox_events where published_at is not null group by 1`,
  );
  const types = await observed.query<{ type: string; n: number }>(
    `select event_type as type, count(*)::int as n from orders.outbox_events where published_at is not null group by 1`,
  );
  const series = await totals(OUTBOX);
  const first = Math.min(...rows.map(({ minute }) => minute));
  const line = await stage.minutes(OUTBOX, first - 5, Math.floor(Date.now() / 60_000) + 1);
  const published = (of: string): number => (series.get(of) ?? emptySlot()).published;
  const total = rows.reduce((sum, { n }) => sum + n, 0);
  return {
    table: {
      minutes: new Map(rows.map(({ minute, n }) => [minute, n])),
      types: types.map(({ type, n }) => [type, n]).sort(),
      created: total,
      latencies: total,
    },
    books: {
      minutes: new Map([...line].filter(([, { slot }]) => slot.published > 0).map(([minute, { slot }]) => [minute, slot.published])),
      types: types.map(({ type }) => [type, published(seriesOfType(type))]).sort(),
      created: series.get(ALL_TYPES)?.created,
      latencies: [...(series.get(ALL_TYPES)?.latency.values() ?? [])].reduce((sum, n) => sum + n, 0),
    },
  };
}

async function booksMatch(patienceMs: number): Promise<void> {
  await eventually(async () => {
    const { table, books } = await compare();
    expect(books).toEqual(table);
  }, patienceMs);
}

describe('every event is counted once', () => {
  it('under held transactions, savepoints, lost connections, collectors that die, and leases that pass on all the time', async () => {
    await observed.query('truncate orders.outbox_events');
    const going = traffic(2_000);
    // Two that take the lease from each other with every other look.
    const fighters = [1, 2].map(() => collect({ timing: { ...FAST, lease: 0.15 } }));
    await sleep(4_000);
    await Promise.all(fighters.map((fighter) => fighter.stop()));
    // Some that die at some moment of their work: their connections to the store are gone, and their lease is not given back.
    for (let life = 0; life < 5; life += 1) {
      const own = openStore(kept.url);
      const directory = createDirectory({ databases: [{ id: 'test', url: observed.url }], outboxes: [testOutbox(shape, OUTBOX)] });
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
    const [counted] = await observed.query<{ n: number }>(
      'select count(*)::int as n from orders.outbox_events where published_at is not null',
    );
    expect(counted?.n).toBeGreaterThan(500);
  }, 90_000);

  it('when another transaction holds the horizon: folded after a while, marked, and recounted when it has ended', async () => {
    await observed.query('truncate orders.outbox_events');
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
      expect([...line.values()].some(({ provisional, slot }) => provisional && slot.published > 20)).toBe(true);
    });
    await sleep(4_000);
    await going.stop();
    await foreign.query('commit');
    await foreign.end();
    // The minute has to end before it can be recounted.
    await booksMatch(75_000);
    await eventually(async () => expect((await progress(OUTBOX))?.suspects).toEqual([]), 75_000);
    const line = await stage.minutes(OUTBOX, Math.floor(Date.now() / 60_000) - 5, Math.floor(Date.now() / 60_000) + 1);
    expect([...line.values()].every(({ provisional }) => !provisional)).toBe(true);
    expect(collector.status(OUTBOX).state).toBe('collecting');
    expect(errors).toEqual([]);
  }, 150_000);
});
