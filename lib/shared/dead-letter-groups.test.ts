import { expect, test } from 'vitest';
import { groupByCause, groupFilter } from './dead-letter-groups';

const dead = (id: string, error: string | null, createdAt: string | null, type = 'order_complete') => ({ id, type, error, createdAt });

test('texts that differ in ids and numbers only are counted together', () => {
  expect(
    groupByCause('escrow', [
      dead('1', 'node down', '2026-01-01T00:00:09Z'),
      dead('2', 'order-2: refused', '2026-01-01T00:00:05Z'),
      dead('3', 'order-1: refused', '2026-01-01T00:00:02Z'),
      dead('4', 'order-1: refused', null),
    ]),
  ).toEqual([
    {
      outbox: 'escrow',
      type: 'order_complete',
      error: 'order-…: refused',
      count: 3,
      firstSeenAt: '2026-01-01T00:00:02Z',
      lastSeenAt: '2026-01-01T00:00:05Z',
      seen: 'created',
      sampleEventId: '2',
      sums: [],
      summed: 0,
    },
    expect.objectContaining({ error: 'node down', count: 1, sampleEventId: '1' }),
  ]);
});

test('a group says when its events died, and what they are worth as far as that is known', () => {
  const worth = (id: string, diedAt: string | null, amount: string | null, currency: string | null) => ({
    ...dead(id, `order-${id}: refused`, '2026-01-01T00:00:00Z'),
    ...{ diedAt, amount, currency },
  });
  const [group] = groupByCause('escrow', [
    worth('1', '2026-01-01T00:00:03Z', '12.50', 'EUR'),
    worth('2', '2026-01-01T00:00:09Z', '0.5', 'EUR'),
    worth('3', '2026-01-01T00:00:06Z', '7', 'KRW'),
    worth('4', '2026-01-01T00:00:04Z', null, 'EUR'),
    // Created later than all deaths that are known.
    { ...worth('5', null, null, null), createdAt: '2026-01-02T00:00:00Z' },
  ]);
  expect(group).toMatchObject({
    count: 5,
    firstSeenAt: '2026-01-01T00:00:03Z',
    lastSeenAt: '2026-01-01T00:00:09Z',
    seen: 'died',
    sums: [
      { currency: 'EUR', amount: '13.00' },
      { currency: 'KRW', amount: '7' },
    ],
    summed: 3,
  });
});

test('a text of its own is shown as it is, and none at all is a cause too', () => {
  const groups = groupByCause('escrow', [dead('1', 'order-1: refused', null), dead('2', null, null), dead('3', 'order-1: refused', null)]);
  expect(groups.map(({ error, count }) => [error, count])).toEqual([
    ['order-1: refused', 2],
    [null, 1],
  ]);
});

test('the same text of another type is another line', () => {
  expect(groupByCause('escrow', [dead('1', 'a 1', null), dead('2', 'a 2', null, 'ad_create')])).toHaveLength(2);
});

test('the rows of a group are found by its type and its template', () => {
  expect(groupFilter({ type: 't', error: 'order-1: refused' })).toEqual({ type: ['t'], cause: 'order-…: refused' });
  expect(groupFilter({ type: null, error: null })).toEqual({ type: undefined, cause: undefined });
});
