/** Outboxes for this room's tests: a table of a shape in a test database, bound as the console binds it. */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll } from 'vitest';
import type { Database } from '@/lib/database/database';
import type { Db } from '@/lib/database/engine';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import type { Outbox, OutboxSettings } from '@/lib/outbox/outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { tableParts } from '@/lib/shape/schema/names';
import type { Shape } from '@/lib/shape/shape';
import { useTestDatabase } from '@/scripts/testing/database';
import { settingsIn } from '@/scripts/testing/outbox';
import { openStore, type Store } from '@/lib/store/store';
import type { Progress } from '@/lib/history/collector/progress';
import { computeInStore, type Compute } from '@/lib/live/compute-in-store';

export type TestOutbox = OutboxSettings & { database: string };

export function shapeCalled(key: string): Shape {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error(`no shape ${key}`);
  return shape;
}

/** The statements that make a shape's sample tables in a schema of their own: table names repeat between shapes. */
export function sampleTables(shape: Shape, schema: string): string[] {
  const ddl = sampleOf(shape).ddl.postgres ?? [];
  const given = tableParts(shape.table).schema;
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `SET search_path TO ${schema}`,
    ...ddl
      .filter((text) => !text.startsWith('CREATE SCHEMA'))
      .map((text) => (given === null ? text : text.replaceAll(`${given}.`, `${schema}.`))),
    'RESET search_path',
  ];
}

/** An outbox of a shape whose tables are in `schema`. */
export function testOutbox(shape: Shape, schema: string, overrides: Partial<TestOutbox> = {}): TestOutbox {
  return { ...settingsIn(shape, schema), database: 'test', ...overrides };
}

/** A store of the test file's own that computes figures. Call it once at the top of the file. */
export function useCompute(): Compute {
  const kept = useTestDatabase();
  let store: Store;
  beforeAll(() => {
    store = openStore(kept.url);
  });
  afterAll(() => store.close());
  return (statement) => computeInStore(store)(statement);
}

export interface CountedDirectory extends OutboxDirectory {
  /** Transactions that read figures so far: those of binding are not counted. */
  readings(): number;
}

/** A directory whose readings are counted, and can be made to wait or to fail first. */
export function countedDirectory(
  url: string,
  outboxes: TestOutbox[],
  beforeReading: (outbox: string) => Promise<void> = () => Promise.resolve(),
): CountedDirectory {
  const directory = createDirectory({ databases: [{ id: 'test', url }], outboxes });
  let readings = 0;
  const counted = (id: string, database: Database): Database => ({
    ...database,
    async read<T>(work: (db: Db) => Promise<T>, limits?: Parameters<Database['read']>[1]): Promise<T> {
      readings += 1;
      await beforeReading(id);
      return database.read(work, limits);
    },
  });
  const known = new WeakMap<Outbox, Outbox>();
  function countedOutbox(outbox: Outbox): Outbox {
    const found = known.get(outbox) ?? { ...outbox, database: counted(outbox.id, outbox.database) };
    known.set(outbox, found);
    return found;
  }
  return {
    ...directory,
    get: async (id) => countedOutbox(await directory.get(id)),
    last: async (id) => countedOutbox(await directory.last(id)),
    readings: () => readings,
  };
}

/** A collector that has come this far, has nothing to read afterwards and looks every five seconds. */
export const progressOf = (foldedTo: string, more: Partial<Progress> = {}): Progress => ({
  method: 'published_index',
  foldedTo,
  watchedSince: foldedTo,
  lookedAt: foldedTo,
  countedSince: foldedTo,
  unread: [],
  suspects: [],
  sealedTo: 0,
  everyMs: 5_000,
  slowed: false,
  blind: false,
  cost: { statements: 0, rows: 0, milliseconds: 0 },
  advice: null,
  ...more,
});
