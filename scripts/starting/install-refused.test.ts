import { expect, it } from 'vitest';
import type { DatabaseFailure } from '@/lib/database/failure';
import { mysqlFailure } from '@/lib/database/mysql/failure';
import { ofInstall } from './install-refused';

const refused = (errno: number): DatabaseFailure =>
  mysqlFailure(Object.assign(new Error('You do not have the SUPER privilege'), { errno }));

it('an owner whose server has a binary log is told of the triggers, and not to look for the owner', () => {
  for (const given of [true, false]) {
    expect(String(ofInstall(refused(1419), given))).toContain('log_bin_trust_function_creators');
    expect(String(ofInstall(refused(1142), given))).toContain("the table's owner");
  }
});

it('what is no refusal stays what it is', () => {
  const error = new Error('a bug');
  expect(ofInstall(error, true)).toBe(error);
  expect(ofInstall(error, false)).toBe(error);
});
