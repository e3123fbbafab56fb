import { expect, test } from 'vitest';
import { mergeByTemplate } from './dead-letter-groups';
import type { DeadLetterGroup } from './model';

const group = (error: string | null, count: number, newestAt: string | null, oldestAt = newestAt): DeadLetterGroup => ({
  outbox: 'escrow',
  type: 'order_complete',
  error,
  count,
  newestAt,
  oldestAt,
  sampleEventId: `sample of ${error ?? 'none'}`,
});

test('texts that differ in ids and numbers only are counted together', () => {
  expect(
    mergeByTemplate([
      group('order-1: refused', 1, '2026-01-01T00:00:02Z'),
      group('node down', 2, '2026-01-01T00:00:09Z'),
      group('order-2: refused', 3, '2026-01-01T00:00:05Z', '2026-01-01T00:00:01Z'),
    ]),
  ).toEqual([
    { ...group('order-2: refused', 4, '2026-01-01T00:00:05Z', '2026-01-01T00:00:01Z'), error: 'order-…: refused' },
    group('node down', 2, '2026-01-01T00:00:09Z'),
  ]);
});

test('a text of its own is shown as it is, and none at all is a cause too', () => {
  expect(mergeByTemplate([group('order-1: refused', 1, null), group(null, 1, null)]).map(({ error }) => error)).toEqual([
    'order-1: refused',
    null,
  ]);
});

test('the same text of another type is another line', () => {
  expect(mergeByTemplate([group('a 1', 1, null), { ...group('a 2', 1, null), type: 'ad_create' }])).toHaveLength(2);
});
