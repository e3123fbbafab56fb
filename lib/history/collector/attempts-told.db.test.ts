import { describe, expect, it } from 'vitest';
import { cellIn, ALL_TYPES } from '@/lib/rollup/cell';
import { attemptsObserver } from './observers/attempts';
import { eventually, ORDERS, useStage } from '@/fixtures/collector/stage';
import { ENGINE_KEYS } from '@/lib/shared/model';

const OUTBOX = 'orders';

/** Looks often, as the collector of the test does. */
const attempts = { ...attemptsObserver, everyMs: 100 };

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const { outbox: orders, create, publish: publishOrders, table } = ORDERS[engine];
  const claimed = { ...orders, id: 'claimed', shape: { ...orders.shape, attemptsCount: 'claims' as const } };
  const stage = useStage([orders, claimed], create, engine);
  const { observed, collect, total, errors } = stage;
  const [columns, values] = engine === 'postgres' ? [', aggregate_type, aggregate_id', `, 'a', 'a'`] : ['', ''];
  const waiting = `insert into ${table} (id, event_type, payload, created_at, attempt${columns})
    values ('00000000-0000-4000-8000-0000000000aa', 'paid', '{}', current_timestamp(6), 2${values})`;
  const publish = (count: number, attempt: number): Promise<unknown> => publishOrders(observed, count, 0, { latencyMs: 1_000, attempt });
  const counted = (published: number, tries: number): Promise<void> =>
    eventually(async () => expect(await total(OUTBOX)).toMatchObject({ published, retries: tries, failures: tries }));

  /** From now on what an event had counted before it came is told from what it counts later. */
  const looked = (): Promise<void> =>
    eventually(async () => {
      const memory = `select 1 from collector_state where outbox = '${OUTBOX}' and memory::jsonb #> '{attempts,memory}' is not null`;
      expect(await stage.kept.query(memory)).toHaveLength(1);
    });

  it('attempts of events that failed and went out between two looks are told by the fold, each once, across a restart', async () => {
    const first = collect({ observers: [attempts] });
    await eventually(() => expect(first.status(OUTBOX).state).toBe('collecting'));
    await publish(40, 0);
    await publish(10, 2);
    await counted(50, 20);
    await publish(3, 1);
    await counted(53, 23);
    await publish(5, 4);
    await first.stop();
    const second = collect({ observers: [attempts] });
    await counted(58, 43);
    await publish(7, 1);
    await counted(65, 50);
    await second.stop();
    expect(errors).toEqual([]);
  });

  it('a counter that rises when the relay takes an event counts the first attempt, which is neither a retry nor a failure', async () => {
    const collector = collect({ observers: [attempts] });
    for (const id of [OUTBOX, 'claimed'])
      await eventually(() => expect(collector.status(id)).toMatchObject({ state: 'collecting', backfill: null }));
    const [failures, claims] = [await total(OUTBOX), await total('claimed')];
    await publish(100, 1);
    await publish(10, 3);
    await eventually(async () => expect((await total(OUTBOX)).failures).toBe(failures.failures + 130));
    const first = { published: claims.published + 110, retries: claims.retries + 20, failures: claims.failures + 20 };
    await eventually(async () => expect(await total('claimed')).toMatchObject(first));
    await collector.stop();
  });

  it('an event that was followed while it failed is counted once when it goes out', async () => {
    const collector = collect({ observers: [attempts] });
    await eventually(() => expect(collector.status(OUTBOX).state).toBe('collecting'));
    await looked();
    const before = await total(OUTBOX);
    await observed.query(waiting);
    await eventually(async () => expect((await total(OUTBOX)).failures).toBe(before.failures + 2));
    await observed.query(`update ${table} set attempt = 3, published_at = current_timestamp(6) where published_at is null`);
    await eventually(async () => expect(await total(OUTBOX)).toMatchObject({ failures: before.failures + 3, retries: before.retries + 3 }));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await total(OUTBOX)).toMatchObject({ failures: before.failures + 3, retries: before.retries + 3 });
  });

  it('attempts of events that came and went while nobody looked are read from their rows, and what was counted before is not', async () => {
    await observed.query(`truncate table ${table}`);
    const first = collect({ observers: [attempts] });
    await eventually(() => expect(first.status(OUTBOX).state).toBe('collecting'));
    await looked();
    await observed.query(waiting.replace('00aa', '00ab').replace('current_timestamp(6)', `current_timestamp(6) - interval '2' hour`));
    await eventually(async () => expect((await total(OUTBOX)).failures).toBe(2));
    await first.stop();
    // As if the last look were an hour ago.
    const [anHourAgo, ms] = [new Date(Date.now() - 3_600_000).toISOString().replace('Z', '000Z'), Date.now() - 3_600_000];
    await stage.kept.query(
      `update collector_state set state = state || jsonb_build_object('foldedTo', $1::text, 'lookedAt', $1::text, 'watchedSince', $1::text),
         memory = jsonb_set(memory::jsonb, '{attempts,memory}', memory::jsonb #> '{attempts,memory}' || jsonb_build_object('atMs', $2::float8, 'publishedToMs', $2::float8))`,
      [anHourAgo, ms],
    );
    const before = await total(OUTBOX);
    await observed.query(
      `update ${table} set attempt = 3, published_at = current_timestamp(6) - interval '40' minute where published_at is null`,
    );
    await publishOrders(observed, 4, 1_800, { latencyMs: 60_000, attempt: 2 });
    const second = collect({ observers: [attempts] });
    await eventually(async () => expect(await total(OUTBOX)).toMatchObject({ published: before.published + 5 }));
    await eventually(() => expect(second.status(OUTBOX)).toMatchObject({ state: 'collecting', backfill: null }));
    expect(await total(OUTBOX)).toMatchObject({ failures: before.failures + 8, retries: before.retries + 8 });
    expect(errors).toEqual([]);
  });

  it('what a process that ended had folded and not told is read once', async () => {
    const outbox = await stage.directory.get(OUTBOX);
    let memory: unknown = null;
    const tick = async (at: number, from: number, to: number): Promise<number> => {
      const tried = { from: from * 1_000, to: to * 1_000, rows: [] };
      const seen = await outbox.database.read(async (db) => {
        await outbox.database.engine.byIndex(db, { memory: true });
        return attemptsObserver.tick({ outbox, db, at: new Date(at).toISOString(), memory, tried, acted: null });
      });
      memory = JSON.parse(JSON.stringify(seen.memory));
      return [...seen.additions.keys()].reduce((sum, minute) => sum + cellIn(seen.additions, minute, ALL_TYPES).retries, 0);
    };
    const start = Date.now() - 1_000;
    expect(await tick(start, start, start)).toBe(0);
    await publish(4, 2);
    const later = Date.now() + 1_000;
    expect(await tick(later, later, later)).toBe(8);
    expect(await tick(later + 1_000, later, later + 1_000)).toBe(0);
  });
});
