import { expect, test } from 'vitest';
import { DatabaseFailure } from '@/lib/database/failure';
import { databaseProblem } from './directory';

const problem = (code: DatabaseFailure['code'], state: string | null = null) =>
  databaseProblem(new DatabaseFailure(code, state, null), 'shop');

test('a statement that was refused is not called a database that cannot be reached', () => {
  expect(problem('connection').detail).toContain('cannot be reached');
  const refused = problem('other', '42883');
  expect(refused.code).toBe('unavailable');
  expect(refused.detail).toBe(
    "Database shop refused a statement of the console (42883): check that the mapping fits the table; the server's log says more",
  );
});

test('a row that the table refuses when everything is put together is a conflict, and a deadlock a matter of time', () => {
  expect([problem('constraint').code, problem('duplicate').code, problem('deadlock').code]).toEqual(['conflict', 'conflict', 'timeout']);
});
