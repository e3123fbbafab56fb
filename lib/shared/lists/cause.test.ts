import { expect, test } from 'vitest';
import { errorTemplate, isSameCause } from './cause';

test.each([
  [
    'ledger refused release of order-98078: version 19 expected, 78 found',
    'ledger refused release of order-…: version … expected, … found',
  ],
  ['insufficient funds for gas: address 0xd1ef32023015468d has 18100000000000 wei', 'insufficient funds for gas: address … has … wei'],
  [
    '14 UNAVAILABLE: escrow-node-3.internal:50051: connection refused (request 83735a2d)',
    '14 UNAVAILABLE: …: connection refused (request …)',
  ],
  ['14 UNAVAILABLE: escrow-node-….internal:…: connection refused', '14 UNAVAILABLE: …: connection refused'],
  ['POST https://ledger-2.example.com:8443/orders/7: 503', 'POST https://…/orders/…: …'],
  ['getaddrinfo ENOTFOUND kafka-broker', 'getaddrinfo ENOTFOUND …'],
  ['java.net.UnknownHostException: sink: not known', 'java.net.UnknownHostException: …: not known'],
  ['dial tcp: lookup broker-b on 10.96.0.10:53: no such host', 'dial tcp: lookup … on …: no such host'],
  ['broker-b:9092 and rabbit.prod.svc said no', '… and … said no'],
  ['connect ECONNREFUSED redis:6379', 'connect ECONNREFUSED redis:…'],
  ['java.lang.NullPointerException at Foo.bar(Foo.java:123)', 'java.lang.NullPointerException at Foo.bar(Foo.java:…)'],
  [
    'java.io.IOException: order.created in relay-worker.ts:14, status:500',
    'java.io.IOException: order.created in relay-worker.ts:…, status:…',
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
  for (const error of ['14 UNAVAILABLE: node-3:50051', 'order-x:7.5', 'b-2.lan:1234567', 'order 7: \'x\' and "y"', 'x'.repeat(299) + '17'])
    expect(errorTemplate(errorTemplate(error))).toBe(errorTemplate(error));
});

test('a cause is a type and a text; none at all is a cause too', () => {
  expect(isSameCause({ type: 'a', error: 'order 1' }, { type: 'a', error: 'order 2' })).toBe(true);
  expect(isSameCause({ type: 'a', error: 'order 1' }, { type: 'b', error: 'order 1' })).toBe(false);
  expect(isSameCause({ type: 'a', error: null }, { type: 'a', error: null })).toBe(true);
  expect(isSameCause({ type: 'a', error: null }, { type: 'a', error: '' })).toBe(false);
});
