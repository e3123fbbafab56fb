/** What sending events again would do to the order of their aggregates, looked up by an index or not at all. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineShape, is } from '@/lib/shape/define';
import type { Shape } from '@/lib/shape/shape';
import type { EngineKey } from '@/lib/shared/model';
import { openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import type { Outbox } from '../outbox';
import { getEvent } from '../rows/get-event';
import { neighboursOf, orderWithin } from './neighbours';

const shape = defineShape({
  key: 'stops',
  label: 'stops',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'stops',
  columns: { id: 'id', type: 'kind', aggregateType: 'line', aggregateId: 'tram', payload: 'body', createdAt: 'made_at' },
  dead: { table: 'stops_failed', columns: { error: 'why' } },
  states: [
    { state: 'published', when: is('status', 'sent') },
    { state: 'dead', when: is('status', 'failed') },
    { state: 'pending', when: is('status', 'new') },
  ],
  operations: {},
});
const inOrder: Shape = { ...shape, ordering: { key: 'aggregateId', by: 'createdAt', blockedBy: ['pending', 'dead'] } };

const ENGINES: EngineKey[] = ['postgres', 'mysql'];

describe.each(ENGINES)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async (db) => {
    const columns = `id int PRIMARY KEY, kind varchar(20) NOT NULL, line varchar(20) NOT NULL, tram varchar(20) NOT NULL,
      body varchar(50) NOT NULL, made_at ${engine === 'postgres' ? 'timestamptz' : 'datetime'} NOT NULL, status varchar(10) NOT NULL`;
    await db.query(`CREATE TABLE stops (${columns})`);
    await db.query(`CREATE TABLE stops_failed (${columns}, why varchar(50))`);
    await db.query('CREATE INDEX stops_tram ON stops (line, tram)');
    const add = (table: string, id: number, tram: string, status: string, rest = '', second = id) =>
      db.query(
        `INSERT INTO ${table} VALUES (${String(id)}, 'stop', 'l', '${tram}', '{}', '2026-01-01 00:00:${String(second).padStart(2, '0')}', '${status}'${rest})`,
      );
    // Overtaken: 1 by 3. Not: 2, whose later one waits; 4, whose sent one is earlier; 6 is alone.
    await add('stops', 1, 'a', 'failed');
    await add('stops', 2, 'b', 'failed');
    await add('stops', 3, 'a', 'sent');
    await add('stops', 4, 'a', 'failed');
    await add('stops', 5, 'b', 'new');
    await add('stops', 6, 'c', 'failed');
    await add('stops_failed', 7, 'd', 'failed', `, 'no'`);
    await add('stops', 8, 'd', 'sent');
    for (let id = 20; id < 50; id += 1) await add('stops', id, 'e', 'sent');
    await add('stops', 10, 'e', 'failed');
    // All of one second: the number says which is later, but not across two tables.
    await add('stops', 99, 'f', 'failed', '', 50);
    await add('stops', 100, 'f', 'sent', '', 50);
    await add('stops', 999, 'g', 'sent', '', 50);
    await add('stops', 1000, 'g', 'failed', '', 50);
    await add('stops', 9_999, 'i', 'failed', '', 50);
    await add('stops', 10_000, 'i', 'new', '', 50);
    await add('stops', 1001, 'h', 'sent', '', 50);
    await add('stops_failed', 98, 'h', 'failed', `, 'no'`, 50);
  });
  let open: OpenOutbox;
  beforeAll(async () => {
    open = await openSample(database, shape, { table: 'stops' });
  });
  afterAll(() => open.close());
  const large = (outbox: Outbox, indexed: boolean): Outbox => {
    const { description } = outbox.main;
    const indexes = indexed ? description.indexes : [];
    return { ...outbox, main: { ...outbox.main, description: { ...description, estimatedRows: 10_000_000, indexes } } };
  };

  it('counts the events that a later one of their aggregate has overtaken, dead ones of another table too', async () => {
    const of = (...ids: number[]) => orderWithin(large(open.outbox, true), ids.map(String));
    expect(await of(1, 2, 4, 6, 7, 10)).toEqual([{ code: 'later_event_is_out', count: 3 }]);
    expect(await of(1)).toMatchObject([{ count: 1 }]);
    expect(await of(2, 4, 6)).toEqual([]);
  });

  it('counts those that an earlier one holds up where the relay keeps order', async () => {
    const outbox = { ...large(open.outbox, true), shape: inOrder };
    expect(await orderWithin(outbox, ['1', '4', '5', '6'])).toContainEqual({ code: 'blocked_by_order', count: 2 });
  });

  it('counts those that a later one has overtaken also where the relay waits for others, but not for them', async () => {
    const skipsDead: Shape = { ...shape, ordering: { key: 'aggregateId', by: 'createdAt', blockedBy: ['pending'] } };
    const outbox = { ...large(open.outbox, true), shape: skipsDead };
    expect(await orderWithin(outbox, ['1', '2', '4', '6', '7', '10'])).toEqual([{ code: 'later_event_is_out', count: 3 }]);
    const stored = await getEvent(outbox, '1');
    if (stored === null) throw new Error('an event that is not there');
    const { neighbours } = await neighboursOf({ ...open.outbox, shape: skipsDead }, stored.event);
    expect(neighbours.find(({ current }) => current)).toMatchObject({ overtaken: true, blocked: false });
  });

  it('takes numbered events of the same time by their numbers, on the page as in the dialog', async () => {
    const within = async (outbox: Outbox, id: number) => {
      const stored = await getEvent(outbox, String(id));
      if (stored === null) throw new Error('an event that is not there');
      const { neighbours } = await neighboursOf(outbox, stored.event);
      const { blocked, overtaken } = neighbours.find(({ current }) => current) ?? {};
      const order = await orderWithin(outbox, [String(id)]);
      return [neighbours.map(({ event }) => Number(event.id)), blocked, overtaken, order];
    };
    const out = (count: number) => [{ code: 'later_event_is_out', count }];
    expect(await within(open.outbox, 99)).toEqual([[99, 100], false, true, out(1)]);
    expect(await within(open.outbox, 1000)).toEqual([[999, 1000], false, false, []]);
    expect(await within(open.outbox, 98)).toEqual([[98, 1001], false, false, []]);
    const keeping = { ...open.outbox, shape: inOrder };
    const held = (count: number) => [{ code: 'blocked_by_order', count }];
    expect(await within(keeping, 9_999)).toEqual([[9_999, 10_000], false, false, []]);
    expect(await within(keeping, 10_000)).toEqual([[9_999, 10_000], true, false, held(1)]);
  });

  it('does not look where no index leads to the aggregate of a large table, and says so', async () => {
    expect(await orderWithin(large(open.outbox, false), ['1'])).toBe('not_looked');
    expect(await orderWithin(open.outbox, ['1'])).toMatchObject([{ count: 1 }]);
    const { aggregateId: _, ...roles } = open.outbox.main.roles;
    expect(await orderWithin({ ...open.outbox, main: { ...open.outbox.main, roles } }, ['1'])).toBeNull();
  });
});
