import { afterAll, describe, expect, it } from 'vitest';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { ORDERS } from '@/fixtures/collector/stage';
import { createEdgeRows, type EdgeRows } from './edge-rows';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import { bucketOf } from '@/lib/rollup/histogram';
import { emptyCell } from '@/lib/rollup/cell';
import { countedDirectory, progressOf, type CountedDirectory } from '@/lib/snapshots/testing';

describe.each(['postgres', 'mysql'] as const)('on %s', (engine) => {
  const { outbox: orders, create, publish, table } = ORDERS[engine];
  const database = useTestDatabaseOf(engine);
  let directory: CountedDirectory;
  afterAll(() => directory.close());

  it('reads the rows of a slice once for everybody, also when that fails', async () => {
    await create(database);
    await publish(database, 3, 7_200, { latencyMs: 1_000, type: `'t'` });
    directory = countedDirectory(database.url, [orders]);
    const outbox = await directory.get('orders');
    const progress = progressOf(new Date().toISOString().replace('Z', '000Z'));
    // An hour that has all of them in it, whatever the minute is now.
    const fromMinute = Math.floor(Date.now() / 60_000) - 150;
    const edge = (published: number) => ({
      fromMinute,
      toMinute: fromMinute + 60,
      share: 0.5,
      cells: new Map([[ALL_TYPES, { ...emptyCell(), published }]]),
    });
    const rows = createEdgeRows();
    expect(await rows(outbox, progress, edge(3))).toEqual(
      Array.from({ length: 3 }, () => ({ at: expect.any(Number), type: 't', ms: 1_000, latency: bucketOf(1_000), processing: null })),
    );
    expect(await rows(outbox, progress, edge(3))).toHaveLength(3);
    expect(directory.readings()).toBe(1);
    // The rollups have more than the table: its owner has purged it.
    expect(await rows(outbox, progress, edge(4))).toBeNull();
    await database.query(`drop table ${table}`);
    const others = createEdgeRows();
    for (let round = 0; round < 3; round += 1) expect(await others(outbox, progress, edge(3))).toBeNull();
    expect(directory.readings()).toBe(3);
  });

  it('keeps the slices of hundreds of quiet outboxes, and fewer of busy ones', async () => {
    const outbox = await directory.get('orders');
    const progress = progressOf(new Date().toISOString().replace('Z', '000Z'));
    // The table is gone: that is kept like any answer.
    const readingsOf = async (read: EdgeRows, count: number, published: number): Promise<number> => {
      const before = directory.readings();
      const cells = new Map([[ALL_TYPES, { ...emptyCell(), published }]]);
      for (let at = 0; at < count; at += 1)
        await read({ ...outbox, id: `${String(published)}-${String(at)}` }, progress, { fromMinute: 0, toMinute: 1, share: 0.5, cells });
      return directory.readings() - before;
    };
    for (const [count, published, again] of [
      [400, 3, 0],
      [100, 1_000, 0],
      // Each time the one that is wanted next has just made room.
      [129, 1_000, 129],
    ] as const) {
      const read = createEdgeRows();
      expect([await readingsOf(read, count, published), await readingsOf(read, count, published)]).toEqual([count, again]);
    }
  });
});
