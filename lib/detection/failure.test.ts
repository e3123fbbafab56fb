import { expect, test } from 'vitest';
import { DatabaseFailure } from '@/lib/database/failure';
import { mysqlFailure } from '@/lib/database/mysql/failure';
import { postgresFailure } from '@/lib/database/postgres/failure';
import { failureOf } from './failure';

const mysql = (errno: number) => failureOf(mysqlFailure(Object.assign(new Error('no'), { errno, sqlState: '28000', fatal: true })))?.code;
const postgres = (code: string) => failureOf(postgresFailure(Object.assign(new Error('no'), { code })))?.code;

test('a login that was refused and a database that is not there are not called unreachable, on either engine', () => {
  expect([postgres('28P01'), postgres('28000'), mysql(1045), mysql(1698)]).toEqual(['login', 'login', 'login', 'login']);
  expect([postgres('3D000'), mysql(1049), mysql(1044)]).toEqual(['no_database', 'no_database', 'no_database']);
  expect([postgres('ECONNREFUSED'), failureOf(mysqlFailure(Object.assign(new Error('no'), { code: 'ECONNREFUSED' })))?.code]).toEqual([
    'connection',
    'connection',
  ]);
});

test('a server that may be too old is not called one that could not answer', () => {
  expect(failureOf(new DatabaseFailure('outdated', '42601', null, 'too old'))).toEqual({ code: 'outdated', detail: '42601' });
});
