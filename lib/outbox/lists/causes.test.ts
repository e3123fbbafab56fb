import { describe, expect, test } from 'vitest';
import { errorTemplate } from '@/lib/shared/lists/cause';
import type { DeadEvent } from '@/lib/shared/dead-letter-groups';
import { CauseTally, fingerprintOf, isFingerprint, mergedCause } from './causes';

const dead = (id: string, error: string | null, createdAt: string | null, type = 'order_complete') => ({ id, type, error, createdAt });
const causesOf = (events: DeadEvent[]) => {
  const tally = new CauseTally();
  tally.add(events);
  return tally.causes();
};

describe('a fingerprint', () => {
  const type = 'order_complete';

  test('is the same for what differs in ids, numbers and hosts only, and another for another type or text', () => {
    const of = (error: string | null, own: string | null = type) => fingerprintOf({ type: own, error });
    const one = of('dial escrow-node-1.prod.internal:50051: order-98078 refused after 3 tries');
    expect(of('dial escrow-node-2.prod.internal:50052: order-5 refused after 12 tries')).toBe(one);
    expect(of('dial https://user@node:1/x?y=1: refused')).toBe(of('dial https://other.example.com/x?y=1: refused'));
    const others = [of('dial escrow-node-1.prod.internal:50051: order-98078 timed out after 3 tries'), of(null), of(''), of(null, null)];
    expect(new Set([one, of('dial a.internal:1: order-1 refused after 3 tries', 'other'), ...others]).size).toBe(6);
    expect(isFingerprint(one)).toBe(true);
    expect(isFingerprint('order-… refused')).toBe(false);
  });

  test('stays what it was, so that notes, links and plans made by an older build still find their cause', () => {
    expect(fingerprintOf({ type, error: 'order-1: refused' })).toBe('2eb557604e7ec895');
    expect(fingerprintOf({ type: null, error: null })).toBe('2b330296c14615d8');
  });

  test('is of the first 300 characters, whole ones, and the same for a template as for its texts', () => {
    const start = '😀'.repeat(299);
    expect(fingerprintOf({ type, error: `${start}ab` })).toBe(fingerprintOf({ type, error: `${start}ac` }));
    expect(fingerprintOf({ type, error: `${start}b` })).not.toBe(fingerprintOf({ type, error: `${start}c` }));
    const error = 'order-98078: node 10.0.0.7:80 refused';
    expect(fingerprintOf({ type, error: errorTemplate(error) })).toBe(fingerprintOf({ type, error }));
  });
});

test('texts that differ in ids and numbers only are counted together, with samples that differ', () => {
  expect(
    causesOf([
      dead('1', 'node down', '2026-01-01T00:00:09Z'),
      dead('2', 'order-2: refused', '2026-01-01T00:00:05Z'),
      dead('3', 'order-1: refused', '2026-01-01T00:00:02Z'),
      dead('4', 'order-1: refused', null),
    ]),
  ).toEqual([
    {
      id: fingerprintOf({ type: 'order_complete', error: 'order-…: refused' }),
      type: 'order_complete',
      error: 'order-…: refused',
      count: 3,
      firstSeenAt: '2026-01-01T00:00:02Z',
      lastSeenAt: '2026-01-01T00:00:05Z',
      seen: 'created',
      samples: ['2', '3'],
      sums: [],
      summed: 0,
    },
    expect.objectContaining({ error: 'node down', count: 1, samples: ['1'] }),
  ]);
});

test('a cause says when its events died, and what they are worth as far as that is known, to the last digit', () => {
  const worth = (id: string, diedAt: string | null, amount: string | null, currency: string | null) => ({
    ...dead(id, `order-${id}: refused`, '2026-01-01T00:00:00Z'),
    ...{ diedAt, amount, currency },
  });
  const events = [
    worth('1', '2026-01-01T00:00:03Z', '12.50', 'EUR'),
    worth('2', '2026-01-01T00:00:09Z', '0.5', 'EUR'),
    worth('3', '2026-01-01T00:00:06Z', '7', 'KRW'),
    worth('4', '2026-01-01T00:00:04Z', null, 'EUR'),
    worth('5', null, 'many', 'EUR'),
    // Created later than all deaths that are known.
    { ...worth('6', null, '9007199254740993.01', 'EUR'), createdAt: '2026-01-02T00:00:00Z' },
  ];
  const expected = {
    count: 6,
    firstSeenAt: '2026-01-01T00:00:03Z',
    lastSeenAt: '2026-01-01T00:00:09Z',
    seen: 'died',
    sums: [
      { currency: 'EUR', amount: '9007199254741006.01' },
      { currency: 'KRW', amount: '7' },
    ],
    summed: 4,
  };
  expect(causesOf(events)).toMatchObject([expected]);
  const slices = new CauseTally();
  for (const event of events) slices.add([event]);
  expect(slices.causes()).toMatchObject([expected]);
  const [first, ...others] = events.flatMap((event) => causesOf([event]));
  if (first !== undefined) expect(mergedCause(first, others)).toMatchObject(expected);
});

test('a text of its own is shown as it is, and none at all is a cause too', () => {
  const causes = causesOf([dead('1', 'order-1: refused', null), dead('2', null, null), dead('3', 'order-1: refused', null)]);
  expect(causes.map(({ error, count }) => [error, count])).toEqual([
    ['order-1: refused', 2],
    [null, 1],
  ]);
});

test('the same text of another type is another cause', () => {
  expect(causesOf([dead('1', 'a 1', null), dead('2', 'a 2', null, 'ad_create')])).toHaveLength(2);
});

test('causes that there is no room for are counted together; those that there is room for are counted whole', () => {
  const tally = new CauseTally(2);
  const letters = ['a', 'b', 'c', 'a', 'd', 'b', 'a'];
  tally.add(letters.map((letter, index) => dead(String(index), letter, null)));
  expect(tally.causes().map(({ error, count }) => [error, count])).toEqual([
    ['a', 3],
    ['b', 2],
  ]);
  expect(tally).toMatchObject({ rows: 7, others: 2 });
});
