import { expect, test } from 'vitest';
import { bytesOf } from './column-text';
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

test.each([
  ['a UUID however it is written', '5F0C1F1E-0B7B-4A7E-9C9D-1A2B3C4D5E6F', undefined, '5f0c1f1e0b7b4a7e9c9d1a2b3c4d5e6f'],
  ['digits after a backslash and x', '\\x00ff', 'uuid', '00ff'],
  ['digits after them where texts are held', '\\xff', 'text', 'ff'],
  ['a text', '주', 'text', 'eca3bc'],
  [
    'a UUID where texts are held',
    '5f0c1f1e-0b7b-4a7e-9c9d-1a2b3c4d5e6f',
    'text',
    Buffer.from('5f0c1f1e-0b7b-4a7e-9c9d-1a2b3c4d5e6f').toString('hex'),
  ],
  ['half a character', '\ud800', 'text', null],
  ['any other text', 'order-1', undefined, null],
  ['half a byte', '\\xf', 'uuid', null],
] as const)('%s stands for its bytes', (_, text, holds, digits) => {
  expect(bytesOf(text, { name: 'id', type: 'bytea', kind: 'binary', nullable: false, generated: false, holds })).toBe(digits);
});
