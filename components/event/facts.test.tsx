import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { fieldsWhere, stateCapabilities } from '@/lib/outbox/capabilities';
import messages from '@/lib/messages/en.json';
import type { EventDetail, OutboxInfo } from '@/lib/shared/model';
import { ClockProvider } from '../figures/format';
import { Facts } from './facts';

const words = messages.event.facts;

/** The terms of the page and what stands beside each. */
function rowsOf(
  event: Partial<EventDetail['event']>,
  claim: Partial<EventDetail['claim']> = {},
  has: readonly string[] = [],
): Map<string, string> {
  const outbox: OutboxInfo = {
    id: 'orders',
    name: 'Orders',
    database: 'shop',
    engine: 'postgres',
    shape: 'inline',
    table: 'outbox',
    writable: false,
    whyReadOnly: null,
    runbook: null,
    capabilities: {
      states: stateCapabilities(() => ({ available: true })),
      operations: {},
      keepsOrder: false,
      fields: fieldsWhere((role) => has.includes(role)),
    },
  };
  const detail: EventDetail = {
    asOf: '2026-01-01T00:00:00Z',
    event: {
      id: '7', state: 'pending', stateLabel: null, type: 'order.paid', topic: null, aggregateType: null, aggregateId: null, createdAt: null,
      publishedAt: null, lastAttemptAt: null, diedAt: null, attempts: null, maxAttempts: null, error: null, dedupKey: null, traceId: null, amount: null,
      currency: null, tooLarge: false, version: null, ...event,
    }, // prettier-ignore
    claim: { availableAt: null, lockedUntil: null, lockedBy: null, ...claim },
    payload: {
      text: null,
      format: 'text',
      bytes: 0,
      bytesKnown: 'exact',
      unread: null,
      shownBytes: 0,
      cut: false,
      masked: false,
      warning: null,
    },
    headers: null,
    neighbours: [],
    blocks: null,
    neighboursComplete: true,
    interventions: [],
    links: [],
    warnings: [],
    operations: {},
    triedBefore: {},
    archived: null,
  };
  const page = renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ClockProvider serverNow={Date.parse('2026-01-01T00:00:10Z')}>
          <Facts detail={detail} outbox={outbox} />
        </ClockProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  );
  const rows = page.matchAll(/<dt>(.*?)<\/dt><dd[^>]*>(.*?)<\/dd>/gs);
  return new Map([...rows].map(([, term = '', value = '']) => [term, value.replace(/<[^>]+>/g, '')]));
}

test('where an event is sent stands below its type, unless the table has no such column or it says the type again', () => {
  const sent = rowsOf({ topic: 'orders.v1' }, {}, ['topic']);
  expect([...sent.keys()].slice(0, 3)).toEqual([words.id, words.type, words.topic]);
  expect(sent.get(words.topic)).toBe('orders.v1');
  expect(rowsOf({ topic: 'order.paid' }, {}, ['topic']).has(words.topic)).toBe(false);
  expect(rowsOf({ topic: null }, {}, []).has(words.topic)).toBe(false);
  expect(rowsOf({ topic: null }, {}, ['topic']).get(words.topic)).toBe(words.empty);
});

test('a claim is shown where the table has one, and that nobody holds the event where it is none now', () => {
  expect(rowsOf({}).has(words.lockedBy)).toBe(false);
  expect(rowsOf({}, {}, ['lockedBy']).get(words.lockedBy)).toBe(words.unclaimed);
  expect(rowsOf({}, { lockedBy: 'worker-1' }, ['lockedBy']).get(words.lockedBy)).toBe('worker-1');
});
