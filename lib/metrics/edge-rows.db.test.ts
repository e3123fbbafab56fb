import { afterAll, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createEdgeRows } from './edge-rows';
import { ALL_TYPES } from './rollup/series-key';
import { emptySlot } from './rollup/slot';
import { countedDirectory, progressOf, sampleTables, shapeCalled, testOutbox, type CountedDirectory } from './testing';

const database = useTestDatabase();
let directory: CountedDirectory;
afterAll(() => directory.close());

it('reads the rows of a slice once for everybody, also when that fails', async () => {
  await database.query(sampleTables(shapeCalled('published-at'), 'edges').join(';\n'));
  await database.query(`insert into edges.outbox_events (id, aggregate_type, aggregate_id, event_type, payload, created_at, published_at)
    select gen_random_uuid(), 'a', 'a', 't', '{}', '2026-01-01T12:00:01Z', '2026-01-01T12:00:02Z' from generate_series(1, 3)`);
  directory = countedDirectory(database.url, [testOutbox(shapeCalled('published-at'), 'edges')]);
  const outbox = await directory.get('edges');
  const progress = progressOf('2026-01-01T13:00:00.000000Z');
  const fromMinute = Date.parse('2026-01-01T12:00:00Z') / 60_000;
  const edge = (published: number) => ({
    fromMinute,
    toMinute: fromMinute + 1,
    share: 0.5,
    slots: new Map([[ALL_TYPES, { ...emptySlot(), published }]]),
  });
  const rows = createEdgeRows();
  expect(await rows(outbox, progress, edge(3))).toHaveLength(3);
  expect(await rows(outbox, progress, edge(3))).toHaveLength(3);
  expect(directory.readings()).toBe(1);
  // The books have more than the table: its owner has purged it.
  expect(await rows(outbox, progress, edge(4))).toBeNull();
  await database.query('drop table edges.outbox_events');
  const others = createEdgeRows();
  for (let round = 0; round < 3; round += 1) expect(await others(outbox, progress, edge(3))).toBeNull();
  expect(directory.readings()).toBe(3);
});
