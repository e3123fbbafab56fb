import { expect, test } from 'vitest';
import { CAUSE_VERSION, errorTemplate, isSameCause } from './cause';

test.each([
  [
    'ledger refused release of order-98078: version 19 expected, 78 found',
    'ledger refused release of order-…: version … expected, … found',
  ],
  ['insufficient funds for gas: address 0xd1ef32023015468d has 18100000000000 wei', 'insufficient funds for gas: address … has … wei'],
  [
    '14 UNAVAILABLE: escrow-node-3.internal:50051: connection refused (request 83735a2d)',
    '14 UNAVAILABLE: escrow-node-….internal:…: connection refused (request …)',
  ],
  ['no row 57fc9acd-d5ef-4dbd-8576-9250cfdf655d at 2026-11-21T10:00:00Z', 'no row … at …'],
  ['wallet 37959040-8458-4841-b848-af3f7067af88 not found', 'wallet … not found'],
  ['dial tcp 10.0.0.12:5432: refused', 'dial tcp …: refused'],
  ['value "Jane Doe" of key \'name\' is too long', 'value "…" of key \'…\' is too long'],
  ["can't reach it, won't try", "can't reach it, won't try"],
  ['no account for "••••" of ••••', 'no account for "…" of …'],
  ['••••', '••••'],
  ['the facade was defaced', 'the facade was defaced'],
  ['', ''],
])('%s', (error, template) => {
  expect(errorTemplate(error)).toBe(template);
});

test('a template is its own template, so that a link that holds one finds the same rows', () => {
  for (const error of ['14 UNAVAILABLE: node-3:50051', 'order 7: \'x\' and "y"', 'x'.repeat(299) + '17'])
    expect(errorTemplate(errorTemplate(error))).toBe(errorTemplate(error));
  expect(CAUSE_VERSION).toBe(4);
});

test('a cause is a type and a text; none at all is a cause too', () => {
  expect(isSameCause({ type: 'a', error: 'order 1' }, { type: 'a', error: 'order 2' })).toBe(true);
  expect(isSameCause({ type: 'a', error: 'order 1' }, { type: 'b', error: 'order 1' })).toBe(false);
  expect(isSameCause({ type: 'a', error: null }, { type: 'a', error: null })).toBe(true);
  expect(isSameCause({ type: 'a', error: null }, { type: 'a', error: '' })).toBe(false);
});
