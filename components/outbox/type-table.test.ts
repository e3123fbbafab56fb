import { expect, it } from 'vitest';
import type { TypeFigures } from '@/lib/shared/model';
import { sortTypes } from './type-table';

const row = (type: string, waiting: number | null, p95Ms: number | null): TypeFigures => ({
  type,
  waiting,
  dead: 0,
  retries: 0,
  errors: 0,
  p95Ms,
});
const rows = [row('b', 2, null), row('a', 2, 10), row('c', 30, 9)];
const names = (sorted: TypeFigures[]) => sorted.map(({ type }) => type).join('');

it('sorts numbers as numbers and breaks ties by name', () => {
  expect(names(sortTypes(rows, { column: 'waiting', descending: true }))).toBe('cab');
  expect(names(sortTypes(rows, { column: 'waiting', descending: false }))).toBe('abc');
});

it('puts what is not known last in both directions', () => {
  expect(names(sortTypes(rows, { column: 'p95Ms', descending: true }))).toBe('acb');
  expect(names(sortTypes(rows, { column: 'p95Ms', descending: false }))).toBe('cab');
});
