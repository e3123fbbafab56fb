import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { AuditEntry } from '@/lib/shared/model';
import { ClockProvider } from '../figures/format';
import { AuditLine } from './audit-line';

const ENTRY: AuditEntry = {
  id: 'a',
  at: '2026-01-01T00:00:00Z',
  actor: 'mina@example.com',
  role: 'operator',
  operation: 'retry',
  outbox: 'escrow',
  eventId: 'e1',
  eventType: 'order_complete',
  aggregateId: 'order-7',
  reason: 'node back',
  outcome: 'none',
  code: 'locked',
  interventionId: '0199a0c0-0000-7000-8000-000000000001',
  before: null,
  after: null,
  oddities: [],
};

const line = (over: Partial<AuditEntry>, within = false): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <QueryClientProvider client={new QueryClient()}>
          <ClockProvider serverNow={Date.parse(ENTRY.at)}>
            <AuditLine
              entry={{ ...ENTRY, ...over }}
              outboxName="Escrow"
              within={within}
              load={() => Promise.reject(new Error('nobody opened it'))}
            />
          </ClockProvider>
        </QueryClientProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  ).replaceAll(/<[^>]*>/g, '');

test('an action of many events is one sentence, with what it changed and left alone, and its events below it', () => {
  const many = line({ events: { changed: 40, left: 5 } });
  expect(many).toContain('mina@example.com tried 40 events of Escrow once more: node back5 left alone');
  expect(many).toContain('45 events');
  expect(many).not.toContain('order-7');
  expect(line({ events: { changed: 0, left: 3 } })).toContain('wanted 3 events of Escrow tried once more; nothing changed');
});

test('an action of one event names it, and a line below an action only that', () => {
  const one = line({ outcome: 'applied', code: null, events: { changed: 1, left: 0 } });
  expect(one).toContain('mina@example.com tried 1 event of Escrow once more (order_complete · order-7): node back');
  const within = line({}, true);
  expect(within).toContain('order_complete · order-7');
  expect(within).not.toContain('once more');
});
