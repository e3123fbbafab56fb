import { expect, test } from 'vitest';
import { groupFilter } from './dead-letter-groups';

test('the rows of a group are found by its type and its template', () => {
  expect(groupFilter({ type: 't', error: 'order-1: refused' })).toEqual({ type: ['t'], cause: 'order-…: refused' });
  expect(groupFilter({ type: null, error: null })).toEqual({ type: undefined, cause: undefined });
});
