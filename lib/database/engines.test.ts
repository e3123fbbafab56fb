import { expect, it } from 'vitest';
import { neededServer, tooOld } from './engines';

it.each([
  ['PostgreSQL 15.18', 'PostgreSQL 16'],
  ['PostgreSQL 9.6.24', 'PostgreSQL 16'],
  ['PostgreSQL 16.0', null],
  ['PostgreSQL 19beta2', null],
  ['MySQL 5.7.44', 'MySQL 8.0.16'],
  ['MySQL 8.0.15', 'MySQL 8.0.16'],
  ['MySQL 8.0.16', null],
  ['MySQL 8.4.2', null],
  ['MySQL 9.7.0', null],
  ['MariaDB 10.5.23', 'MariaDB 10.6'],
  ['MariaDB 10.11.19', null],
  ['MariaDB 12.0.2', null],
  ['CockroachDB 24.1', null],
  ['', null],
])('%s: %s', (server, needed) => {
  expect(neededServer(server)).toBe(needed);
});

it('a statement is explained by the age of its server only where an older one cannot have known it', () => {
  expect(tooOld('PostgreSQL 15.18', '42601')).toBe('this server is PostgreSQL 15.18, and the console needs PostgreSQL 16 or newer');
  expect(tooOld('MySQL 5.7.44', '1064')).toContain('MySQL 8.0.16');
  // A table that is not there is not there on a newer one either.
  expect(tooOld('PostgreSQL 15.18', '42P01')).toBeNull();
  expect(tooOld('PostgreSQL 18.3', '42601')).toBeNull();
  expect(tooOld(null, '42601')).toBeNull();
});
