import { expect, test } from 'vitest';
import type { OutboxEvent } from '@/lib/shared/model';
import { steadyRows } from './steady-rows';

const rows = (...ids: string[]) => ids.map((id) => ({ id, state: 'pending' }) as OutboxEvent);

test('rows stay where they are and say what was read last', () => {
  const latest = [...rows('c', 'b'), { id: 'a', state: 'published' } as OutboxEvent];
  const steady = steadyRows(rows('b', 'a'), latest);
  expect(steady.rows.map(({ id, state }) => [id, state])).toEqual([
    ['b', 'pending'],
    ['a', 'published'],
  ]);
  expect(steady.newer).toBe(1);
  expect(steady.gone.size).toBe(0);
});

test('a row pushed over the end of the page is not gone', () => {
  expect(steadyRows(rows('b', 'a'), rows('c', 'b'))).toMatchObject({ newer: 1, gone: new Set() });
});

test('a row that left the list is gone', () => {
  expect(steadyRows(rows('c', 'b', 'a'), rows('c', 'a'))).toMatchObject({ newer: 0, gone: new Set(['b']) });
  expect(steadyRows(rows('c', 'b', 'a'), rows('d', 'c', 'a')).gone).toEqual(new Set(['b']));
});

test('a list without changes is as it was', () => {
  expect(steadyRows(rows('b', 'a'), rows('b', 'a'))).toEqual({ rows: rows('b', 'a'), gone: new Set(), newer: 0 });
});
