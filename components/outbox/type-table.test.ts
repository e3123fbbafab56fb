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

it('shows trouble first: what is dead, then errors, then what waits', () => {
  const some = [
    { ...row('waits', 90, null) },
    { ...row('errs', 0, null), errors: 2 },
    { ...row('dies', 0, null), dead: 1 },
    { ...row('dies-more', null, null), dead: 4, errors: 1 },
    { ...row('unknown', null, null), dead: null },
  ];
  expect(sortTypes(some, { column: 'trouble', descending: true }).map(({ type }) => type)).toEqual([
    'dies-more',
    'dies',
    'errs',
    'waits',
    'unknown',
  ]);
});

it('puts what is not known last in both directions', () => {
  expect(names(sortTypes(rows, { column: 'p95Ms', descending: true }))).toBe('acb');
  expect(names(sortTypes(rows, { column: 'p95Ms', descending: false }))).toBe('cab');
});
