/** Batches of more rows than one statement has time for. */
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { isOver, startRelay } from '@/fixtures/runs';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { useRuns } from '@/scripts/testing/runs';

/** Of a row: fifty take longer than a statement may. */
const SECONDS = 0.12;

const RULES = {
  postgres: [
    `CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${SECONDS}); RETURN OLD; END $$`,
    `CREATE TRIGGER dawdle BEFORE DELETE ON mine FOR EACH ROW WHEN (OLD.state = 3) EXECUTE FUNCTION dawdle()`,
  ],
  mysql: [`CREATE TRIGGER dawdle BEFORE DELETE ON mine FOR EACH ROW IF OLD.state = 3 THEN DO SLEEP(${SECONDS}); END IF`],
};

describe.each(ENGINE_KEYS)('a batch on %s that takes too long', (engine) => {
  const { database, on } = useRuns(engine, RULES[engine]);
  beforeEach(() => {
    on.relay = startRelay(database);
  });

  /** Archives sixty events, each time others: what is in the archive is not put there again. */
  const start = async (first: number): Promise<string> => {
    const ids = Array.from({ length: 60 }, (_, at) => first + at);
    await on.world.dead(ids);
    return on.world.start({ ids: ids.map(String) }, { operation: 'archive' });
  };
  /** Batches that were taken back: they have no events. */
  const withdrawn = async (id: string): Promise<number> => {
    const counted = sql<{ batches: number }>`select count(*)::int as batches from run_batch where run_id = ${id} and positions = '{}'`;
    return (await counted.execute(on.world.store.db)).rows[0]?.batches ?? NaN;
  };

  it('is sent as smaller ones', async () => {
    const id = await start(1);
    expect(await on.world.until(id, isOver)).toMatchObject({ state: 'done', changed: 60, failed: 0 });
    expect(await withdrawn(id)).toBe(1);
  });

  it('is sent as smaller ones by whoever takes the run over, once nobody else can commit it', async () => {
    const dying = on.process;
    const sent = new Promise<void>((resolve) => (dying.at.send = resolve));
    const id = await start(1_000);
    await sent;
    dying.kill();
    on.process = await on.world.process();
    expect(await on.world.until(id, isOver, 90_000)).toMatchObject({ state: 'done', changed: 60, failed: 0 });
    expect(await withdrawn(id)).toBe(1);
    await dying.end();
  });
});
