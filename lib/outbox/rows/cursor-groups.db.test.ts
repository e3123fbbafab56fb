import { describe, expect, it } from 'vitest';
import { useOpened } from '@/scripts/testing/inline';
import { createSample, settingsFor, tableOf, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { tableParts } from '@/lib/shape/schema/names';
import { bindOutbox } from '../bind';
import { listEvents } from '../lists/list-events';
import { SHAPES } from '@/lib/shape/catalog.gen';

describe.each([
  [
    'postgres',
    'watermill-pg',
    `UPDATE watermill_offsets_orders SET last_processed_transaction_id = CASE consumer_group WHEN 'mail' THEN '12' ELSE '11' END::xid8`,
  ],
  ['mysql', 'watermill-mysql', `UPDATE watermill_offsets_orders SET offset_acked = CASE consumer_group WHEN 'mail' THEN 5 ELSE 3 END`],
] as const)('a table behind cursors on %s', (engine, key, positions) => {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error('There is no such shape');
  const database = useTestDatabaseOf(engine, async (made) => {
    await createSample(made, shape);
    await made.query(positions);
  });
  const opened = useOpened(database);
  const published = async (group?: string): Promise<number> => {
    const table = tableParts(tableOf(shape, 'main', engine).replace(/["`]/g, '')).table;
    const settings = settingsFor(shape, { table, parameters: group === undefined ? {} : { extra: { group } } });
    const { events } = await listEvents(await bindOutbox(settings, opened()), { state: ['published'] }, { limit: 50 });
    return events.length;
  };

  it('is judged by the slowest group, by the one that is named, or by nobody where that one has never read', async () => {
    const [slowest, ledger, mail, stranger] = [
      await published(),
      await published('ledger'),
      await published('mail'),
      await published('nobody'),
    ];
    expect(slowest).toBe(ledger);
    expect(mail).toBeGreaterThan(ledger);
    expect([ledger > 0, stranger]).toEqual([true, 0]);
  });
});
