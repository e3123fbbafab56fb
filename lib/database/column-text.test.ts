import { expect, test } from 'vitest';
import { mysqlEngine } from './mysql/engine';
import { postgresEngine } from './postgres/engine';

test.each([
  // Rows of either print these.
  ['2024-02-29 23:59:59.999999', true, true],
  ['2000-02-29', true, true],
  ['9999-12-31 23:59:59', true, true],
  // Zeros in a date only MySQL keeps, zones, infinity and years before the first only PostgreSQL.
  ['0000-00-00 00:00:00', false, true],
  ['2026-00-31', false, true],
  ['2026-02-00', false, true],
  ['2024-02-29 23:59:59+05:30', true, false],
  ['-infinity', true, false],
  ['0005-02-29 00:00:00 BC', true, false],
  ['10000-01-01 00:00:00', true, false],
  // No calendar has these.
  ['0004-02-29 00:00:00 BC', false, false],
  ['1900-02-29', false, false],
  ['2026-00-32', false, false],
  ['2026-13-00', false, false],
  ['2026-99-00 00:00:00', false, false],
  ['2026-12-32', false, false],
  ['2026-01-01 24:00:00', false, false],
  ['2026-01-01 10:00', false, false],
  ['yesterday', false, false],
  ['', false, false],
])('%s is a time of PostgreSQL: %s, of MySQL: %s', (text, ofPostgres, ofMysql) => {
  expect([postgresEngine.timeFits(text), mysqlEngine.timeFits(text)]).toEqual([ofPostgres, ofMysql]);
});
