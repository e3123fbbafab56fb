/** Ids may be as long as a table's name: what is named after them is of its own for each, and indexed. */
import { expect, describe, it } from 'vitest';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { archiveTable, ARCHIVE_COLUMNS } from '@/lib/outbox/companions';
import { createSample, ENGINES, openSample, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { applyInstall } from './install';

describe.each(ENGINE_KEYS)('on %s', (key) => {
  const database = useTestDatabaseOf(key, (db) => createSample(db, workerStatus));
  const engine = ENGINES[key];
  const { prefix } = engine.companions;
  /** An id whose archive has a name of so many characters, as long as that fits. */
  const idOf = (length: number, end = ''): string => `${'a'.repeat(length - `${prefix}archive_`.length - end.length)}${end}`;
  const nameOf = (id: string): string => archiveTable(engine, id).table;

  it('an id that fits is in the name as it is, and one that does not has a name of its own', () => {
    expect(nameOf('orders-kafka')).toBe(`${prefix}archive_orders_kafka`);
    expect(nameOf(idOf(63))).toBe(`${prefix}archive_${idOf(63)}`);
    const long = ['-kafka', '-rabbit', ''].map((end) => nameOf(idOf(64 + end.length, end)));
    expect(new Set(long).size).toBe(3);
    for (const name of long) expect(name).toMatch(/^\w{63}$/);
  });

  it('installs an archive for each, listed by time', async () => {
    const { rebind, close } = await openSample(database, workerStatus);
    const ids = [idOf(60), idOf(61), idOf(62), idOf(63), idOf(66, '-x'), idOf(66, '-y')];
    for (const id of ids) {
      await applyInstall(await rebind({ id }), database.url);
      const { archive } = await rebind({ id });
      expect(archive?.table.table).toBe(nameOf(id));
      expect
        .soft(
          archive?.description.indexes.map(({ columns }) => columns[0]),
          nameOf(id),
        )
        .toContain(ARCHIVE_COLUMNS.at);
    }
    await close();
    expect(new Set(ids.map(nameOf)).size).toBe(ids.length);
  });
});
