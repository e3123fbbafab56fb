/** Events that operators changed: published like any other, their latencies apart from those that tell of the relay. */
import { describe, expect, it } from 'vitest';
import { ORDERS, eventually, timingOn, useStage } from '@/fixtures/collector/stage';
import { openDatabase } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { ALL_TYPES, seriesOfType, TOUCHED, type Cell } from '@/lib/rollup/cell';
import { countOf } from '@/lib/rollup/histogram';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { noteActed } from '@/lib/store/acted';
import { groupsStatement } from './published-sql';
import { sql } from 'kysely';

const OUTBOX = 'orders';
const [MINUTE_S, HOUR_MS] = [60, 3_600_000];

describe.each(ENGINE_KEYS)('events that operators changed on %s', (engine) => {
  const { outbox, table, create, publish } = ORDERS[engine];
  const stage = useStage(
    [outbox],
    async (observed) => {
      await create(observed);
      const database = openDatabase({ id: 'test', url: observed.url, operatorUrl: observed.url });
      await applyInstall(await bindForInstall(outbox, database, observed.url), observed.url).finally(() => database.close());
    },
    engine,
  );
  const { observed, kept, totals, collect, errors } = stage;
  const [headers, lines] =
    engine === 'postgres'
      ? ['outbox_console.intervention', 'outbox_console.intervention_event']
      : ['outbox_console_intervention', 'outbox_console_intervention_event'];
  let acts = 0;
  /** A record of an operator who changed these events. */
  async function act(where: string): Promise<void> {
    acts += 1;
    const id = `01890000-0000-7000-8000-${String(acts).padStart(12, '0')}`;
    const key = engine === 'postgres' ? 'key' : '`key`';
    await observed.query(`insert into ${headers} (id, outbox, actor_id, actor_name, actor_role, ${key}, request_hash, operation, reason)
      values ('${id}', '${OUTBOX}', 'a', 'anna', 'operator', '${id}', 'h', 'retry', 'the node is back')`);
    await observed.query(`insert into ${lines} (intervention_id, position, event_id)
      select '${id}', row_number() over (order by id) - 1, ${engine === 'postgres' ? 'id::text' : 'id'} from ${table} where ${where}`);
  }
  const note = (): Promise<void> => noteActed(stage.store.db, [{ outbox: OUTBOX, at: null }]);
  const old = engine === 'postgres' ? `created_at < now() - interval '30 min'` : `created_at < utc_timestamp(6) - interval 30 minute`;
  const clean = async (): Promise<void> => {
    await observed.query(engine === 'postgres' ? `truncate ${table}, ${headers}, ${lines}` : `truncate ${table}`);
    await kept.query('truncate acted');
  };
  const told = ({ published, latency, latencySumMs }: Cell) => ({
    published,
    timed: countOf(latency),
    meanMs: latencySumMs / countOf(latency),
  });
  const books = async () => Object.fromEntries([...(await totals(OUTBOX))].map(([series, cell]) => [series, told(cell)]));
  const near = (ms: number): number => expect.closeTo(ms, -1) as number;

  it('have their latencies apart, whether read back, folded or found late, and each is counted once', async () => {
    await clean();
    await publish(observed, 20, 3 * MINUTE_S);
    await publish(observed, 5, 3 * MINUTE_S, { latencyMs: HOUR_MS });
    await act(old);
    await note();
    const collector = collect();
    const plain = (count: number) => ({ published: count + 5, timed: count, meanMs: near(100) });
    await eventually(async () =>
      expect(await books()).toEqual({
        [ALL_TYPES]: plain(20),
        [seriesOfType('paid')]: plain(20),
        [TOUCHED]: { published: 0, timed: 5, meanMs: near(HOUR_MS) },
      }),
    );
    await eventually(() => expect(collector.status(OUTBOX)).toMatchObject({ state: 'collecting', backfill: null }));
    // A late one of the same minute: the others are there already.
    await publish(observed, 1, 3 * MINUTE_S);
    await eventually(async () => expect((await books())[ALL_TYPES]).toEqual(plain(21)));
    expect((await books())[TOUCHED]).toMatchObject({ timed: 5 });
    // Sent again, and out a moment later.
    await publish(observed, 2, 0, { latencyMs: 2 * HOUR_MS, type: `'again'` });
    await observed.query(`update ${table} set published_at = null where event_type = 'again'`);
    await act(`event_type = 'again'`);
    await observed.query(
      `update ${table} set published_at = ${engine === 'postgres' ? 'now()' : 'utc_timestamp(6)'} where published_at is null`,
    );
    await eventually(async () => expect((await books())[TOUCHED]).toMatchObject({ timed: 7 }));
    expect(await books()).toMatchObject({ [ALL_TYPES]: { published: 28, timed: 21 }, [seriesOfType('again')]: { published: 2, timed: 0 } });
    expect(errors).toEqual([]);
  });

  it('are told apart from the first action on, long before the lease is renewed by itself', async () => {
    await clean();
    const collector = collect({ timing: { ...timingOn(engine), lease: 600 } });
    await publish(observed, 3, MINUTE_S);
    await eventually(async () => expect((await books())[ALL_TYPES]).toMatchObject({ published: 3, timed: 3 }));
    await note();
    collector.acted(OUTBOX);
    await publish(observed, 2, 0, { latencyMs: HOUR_MS, type: `'again'` });
    await observed.query(`update ${table} set published_at = null where event_type = 'again'`);
    await act(`event_type = 'again'`);
    await observed.query(
      `update ${table} set published_at = ${engine === 'postgres' ? 'now()' : 'utc_timestamp(6)'} where published_at is null`,
    );
    await eventually(async () => expect((await books())[TOUCHED]).toMatchObject({ timed: 2 }));
    expect(collector.status(OUTBOX)).toMatchObject({ state: 'collecting' });
  });

  it('are not searched for where nobody acted, and by the index of their records where somebody did', async () => {
    await clean();
    await publish(observed, 5, 3 * MINUTE_S, { latencyMs: HOUR_MS });
    await act(old);
    collect();
    await eventually(async () => expect((await books())[ALL_TYPES]).toMatchObject({ published: 5, timed: 5 }));
    expect(await books()).not.toHaveProperty([TOUCHED]);
    const bound = await stage.directory.get(OUTBOX);
    const to = Date.now() * 1_000;
    const plan = await bound.database.read(async (db) => {
      await bound.database.engine.byIndex(db, { hashes: true, memory: true });
      const statement = groupsStatement(bound, { from: to - 3_600_000_000, to }, 1, { touched: true });
      const { rows } = await sql<
        Record<string, unknown>
      >`explain ${engine === 'postgres' ? sql`` : sql`format = json`} ${statement}`.execute(db);
      return JSON.stringify(rows);
    });
    expect(plan).toMatch(/intervention_event_event/);
    expect(plan).not.toMatch(/Seq Scan on intervention/);
  });
});
