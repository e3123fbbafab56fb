import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createRunTable, openRunWorld, type RunProcess, type RunWorld, type startRelay } from '@/fixtures/runs';
import type { EngineKey } from '@/lib/shared/model';
import { useTestDatabase } from './database';
import { useTestDatabaseOf } from './outbox';

/** The world of runs for a file's tests, with `rules` of its table; a process for each, and the relay that it starts, both ended after it. */
export function useRuns(engine: EngineKey, rules: readonly string[] = []) {
  const database = useTestDatabaseOf(engine, async (made) => {
    await createRunTable(made);
    for (const rule of rules) await made.query(rule);
  });
  const storeDatabase = useTestDatabase();
  const on = {} as { world: RunWorld; process: RunProcess; relay: ReturnType<typeof startRelay> };
  beforeAll(async () => {
    on.world = await openRunWorld(database, storeDatabase);
  });
  afterAll(() => on.world.close());
  beforeEach(async () => {
    await database.query('DELETE FROM mine');
    on.process = await on.world.process();
  });
  afterEach(() => Promise.all([on.process.end(), on.relay.stop()]));
  return { database, storeDatabase, on };
}
