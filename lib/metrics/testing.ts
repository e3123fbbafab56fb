/** Outboxes for this room's tests: a table of a shape in a test database, bound as the console binds it. */
import type { Database } from '../database/database';
import type { Db } from '../database/engine';
import { createDirectory, type OutboxDirectory } from '../outbox/directory';
import type { OutboxSettings } from '../outbox/outbox';
import { SHAPES } from '../outbox/shape-registry.gen';
import type { Shape } from '../outbox/shape';

export function shapeCalled(key: string): Shape {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error(`no shape ${key}`);
  return shape;
}

export function settingsOf(shape: Shape, overrides: Partial<OutboxSettings> = {}): OutboxSettings & { database: string } {
  return {
    id: shape.key,
    name: shape.label,
    table: shape.table,
    shape,
    inline: false,
    parameters: {},
    links: [],
    amount: null,
    mask: [],
    database: 'test',
    ...overrides,
  };
}

export interface CountedDirectory extends OutboxDirectory {
  /** Transactions that read figures so far: those of binding are not counted. */
  readings(): number;
}

/** A directory over one database whose readings are counted, and can be made to wait. */
export function countedDirectory(
  url: string,
  outboxes: (OutboxSettings & { database: string })[],
  beforeReading: () => Promise<void> = () => Promise.resolve(),
): CountedDirectory {
  const directory = createDirectory({ databases: [{ id: 'test', url }], outboxes });
  let readings = 0;
  const counted = (database: Database): Database => ({
    ...database,
    async read<T>(work: (db: Db) => Promise<T>, limits?: Parameters<Database['read']>[1]): Promise<T> {
      readings += 1;
      await beforeReading();
      return database.read(work, limits);
    },
  });
  return {
    ...directory,
    async get(id) {
      const outbox = await directory.get(id);
      return { ...outbox, database: counted(outbox.database) };
    },
    readings: () => readings,
  };
}
