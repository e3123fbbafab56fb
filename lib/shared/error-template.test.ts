import { expect, test } from 'vitest';
import { constantPart, errorTemplate } from './error-template';

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
  ['dial tcp 10.0.0.12:5432: refused', 'dial tcp …: refused'],
  ['the facade was defaced', 'the facade was defaced'],
  ['', ''],
])('%s', (error, template) => {
  expect(errorTemplate(error)).toBe(template);
});

test('the constant part is found in every text of the cause', () => {
  const error = 'ledger refused release of order-98078: version 19 expected, 78 found';
  expect(constantPart(errorTemplate(error))).toBe('ledger refused release of order-');
  expect(constantPart('… of …')).toBe('');
  expect(constantPart('no account for ••••, tried ••••')).toBe('no account for');
});
