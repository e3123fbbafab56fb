import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { InterventionPreview } from '@/lib/shared/model';
import { ClockProvider } from '../figures/format';
import { About, PreviewRows } from './preview-rows';

const row = (id: number, minute: number, error: string | null, amount: string | null = null, allowed = true) =>
  ({
    allowed,
    code: allowed ? null : 'locked',
    because: null,
    event: {
      id: String(id),
      state: 'dead',
      stateLabel: null,
      type: 'order_complete',
      aggregateId: `order-${String(id)}`,
      createdAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
      publishedAt: null,
      attempts: 5,
      error,
      amount,
      currency: amount === null ? null : 'EUR',
      version: `secret-version-${String(id)}`,
    },
  }) as unknown as InterventionPreview['rows'][number];

const text = (rows: InterventionPreview['rows']): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <ClockProvider serverNow={Date.parse('2026-01-01T01:00:00Z')}>
        <About rows={rows} />
        <PreviewRows rows={rows} />
      </ClockProvider>
    </NextIntlClientProvider>,
  ).replaceAll(/<[^>]*>/g, '');

const ROWS = [
  row(1, 10, 'node 7 answered 503', '1.50'),
  row(2, 20, 'node 8 answered 503', '2.25'),
  row(3, 40, 'no funds', '10'),
  row(4, 50, 'node 9 answered 503', '99', false),
];

test('what is decided about is said by its most frequent cause, its age and its sum, of those that will change', () => {
  const said = text(ROWS);
  expect(said).toContain('2 of 3: node … answered …');
  expect(said).toMatch(/Created 50 m.* ago to 20 m.* ago · 13\.75 EUR in all/);
  expect(text([row(1, 10, null)])).toMatch(/^Created 50 m[^·]*ago/);
});

test('a sum that some of the events have no part in says so', () => {
  const rows = [row(1, 10, null, '10'), row(2, 20, null), row(3, 40, null, 'a lot')];
  expect(text(rows)).toContain('10 EUR, and 2 events whose amount is not known');
  expect(text(rows.slice(0, 2))).toContain('10 EUR, and 1 event whose amount is not known');
  expect(text(rows.slice(1))).not.toMatch(/amount|EUR/);
});

test('no version is shown', () => {
  expect(text(ROWS)).not.toMatch(/version/i);
});
