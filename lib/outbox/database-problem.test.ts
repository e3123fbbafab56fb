import { expect, test } from 'vitest';
import { DatabaseFailure } from '@/lib/database/failure';
import { tooOld } from '@/lib/database/engines';
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

test('a value that some row holds is no fault of the request, and a text that is not Unicode is', () => {
  expect(problem('bad_value', '22P02')).toMatchObject({ code: 'unavailable' });
  expect(problem('bad_value', '22P02').detail).toContain('A row of this outbox');
  for (const state of [null, '22021', '3988']) expect(problem('bad_value', state)).toMatchObject({ code: 'invalid' });
});

test('a server that may be too old to know a statement is named, with the one that is needed, and so is the mapping, which may not fit it', () => {
  const failure = new DatabaseFailure('outdated', '42601', null, tooOld('PostgreSQL 15.18', '42601'));
  expect(databaseProblem(failure, 'shop').detail).toBe(
    "Database shop refused a statement of the console (42601): this server is PostgreSQL 15.18, and the console needs PostgreSQL 16 or newer; if not for that, check that the mapping fits the table; the server's log says more",
  );
});

test('a failure of the console’s own store is told of no observed database', () => {
  expect(databaseProblem(new DatabaseFailure('connection', null, null, null, true), 'shop')).toMatchObject({
    code: 'unavailable',
    ofStore: true,
    detail: "The console's own store does not answer: try again in a moment",
  });
});
