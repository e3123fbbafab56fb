import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { exact, unavailable } from '@/lib/shared/figures/measured';
import messages from '@/lib/messages/en.json';
import type { Summary } from '@/lib/shared/model';
import { ClockProvider } from '../figures/format';
import { Tiles } from './tiles';

const asOf = '2026-11-21T14:02:11.000Z';
const summary = {
  asOf,
  window: '1h',
  depth: { waiting: exact(3), dead: exact(7), retrying: unavailable('no_attempts'), processing: unavailable('no_attempts') },
  oldestPendingAt: asOf,
  lastPublishedAt: null,
  lastPublishedWhy: 'no_published_at',
  latency: {
    known: 'estimated',
    errorShare: 0.015,
    count: 12,
    p50Ms: 10,
    p95Ms: 20,
    p99Ms: 30,
    meanMs: 12,
    touched: { count: null, p95Ms: null },
  },
  throughput: { known: 'exact', publishedPerMinute: 1, createdPerMinute: 1 },
  retries: { value: null, known: 'unavailable', why: 'no_attempts' },
  errorRate: { value: null, known: 'unavailable', why: 'needs_sampling' },
  slot: null,
  diagnosis: { holds: [{ verdict: 'healthy', since: null }] },
} as unknown as Summary;

function draw(over: Partial<Summary> = {}) {
  const markup = renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ClockProvider serverNow={Date.parse(asOf)}>
          <Tiles summary={{ ...summary, ...over }} onAdvice={() => undefined} />
        </ClockProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  );
  return { markup, labels: [...markup.matchAll(/<h2[^>]*>([^<]+)</g)].map(([, label]) => label) };
}
const holding = (...verdicts: string[]) =>
  ({ diagnosis: { holds: verdicts.map((verdict) => ({ verdict, since: null })) } }) as unknown as Partial<Summary>;

it('puts first what the verdicts are about', () => {
  expect(draw().labels[0]).toBe('Waiting');
  expect(draw(holding('relay_stopped', 'dead_growing')).labels[0]).toBe('Dead');
  const stuck = draw({ ...holding('stuck_processing'), depth: { ...summary.depth, processing: exact(2) } });
  expect(stuck.labels[0]).toBe('Processing');
});

it('says once that figures are counted, and of when; only other ways of knowing stand at their tile', () => {
  const { markup } = draw();
  expect(markup.match(/as of 14:02:11/g)).toHaveLength(1);
  expect(markup.match(/counted/g)).toHaveLength(1);
  expect(markup).toContain('within 1.5%');
});

it('names in one line what the table cannot show, and why; what an observer could find out keeps its tile', () => {
  const { markup, labels } = draw();
  expect(labels).toEqual([
    'Waiting',
    'Oldest waiting',
    'Events per minute, last 1 h',
    'Created to published, last 1 h, 12 events',
    'Dead',
    'Error rate, last 1 h',
  ]);
  expect(markup).toContain('left out: Retrying; Processing; Retries, last 1 h (This table keeps no attempt count)');
  expect(markup).toContain('left out: Last published (This table has no publishing time)');
});
