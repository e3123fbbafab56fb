import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { NextIntlClientProvider } from 'next-intl';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { resultOf } from '@/fixtures/intervention-result';
import messages from '@/lib/messages/en.json';
import { type Fate, type Fates, FATES } from '@/lib/shared/changes/fates';
import { ClockProvider } from '../figures/format';
import { FateLine, type Followed, hueOf, useResultSentence, SentNotice } from './panels';
import { ConsoleContext, type ConsoleValue } from '../frame/console';

const fatesOf = (counts: Partial<Record<Fate, number>>, over: Partial<Fates> = {}): Fates => {
  const fates = Object.fromEntries(FATES.map((fate) => [fate, counts[fate] ?? 0])) as Fates['fates'];
  const events = FATES.flatMap((fate) => Array.from({ length: fates[fate] }, (_, index) => ({ id: `${fate}-${String(index)}`, fate })));
  return { asOf: '2026-01-01T00:00:00Z', fates, goneIsOut: false, sameError: null, error: null, events, ...over };
};
const followed = (fates: Fates | null, over: Partial<Followed> = {}): Followed => ({ fates, late: false, ...over });

const markup = (children: ReactNode): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ClockProvider serverNow={Date.parse('2026-01-01T00:00:10Z')}>{children}</ClockProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  );

function Title({ of }: { of: Followed }) {
  return useResultSentence()(resultOf(['1']), of);
}

const CASES: [what: string, of: Followed, title: string, line: string, hue: string][] = [
  [
    'some of each',
    followed(fatesOf({ published: 12, waiting: 30, failedAgain: 3 }, { sameError: 3, error: 'node answered 503' })),
    '3 of 45 died again',
    '12 out · 30 waiting · 3 died again, same error',
    'red',
  ],
  ['all waiting', followed(fatesOf({ waiting: 45 })), 'Sent again: 0 of 45 are out', '45 waiting', 'grey'],
  ['all out', followed(fatesOf({ published: 45 })), 'All 45 are out', '45 out', 'green'],
  ['one out', followed(fatesOf({ published: 1 })), 'It is out', '1 out', 'green'],
  ['gone where sent rows are deleted', followed(fatesOf({ gone: 2 }, { goneIsOut: true })), 'All 2 are out', '2 out: gone', 'green'],
  ['gone where they are kept', followed(fatesOf({ gone: 1, published: 1 })), '1 of 2 are out', '1 no longer in the outbox', 'grey'],
  [
    'another error',
    followed(fatesOf({ retrying: 1 }, { sameError: 0 })),
    'Sent again: not out yet',
    '1 failed again and will be tried again, another error',
    'red',
  ],
  ['what nobody knows', followed(fatesOf({ notKnown: 2 })), '0 of 2 are out', '2 archived or changed since', 'grey'],
];

test.each(CASES)('the result says what became of the events: %s', (_, of, title, line, hue) => {
  expect(markup(<Title of={of} />)).toContain(title);
  expect(markup(<FateLine followed={of} />)).toContain(line);
  expect(hueOf(of)).toBe(hue);
});

test('the last known fates stand with their age while nothing answers', () => {
  expect(markup(<FateLine followed={followed(fatesOf({ waiting: 2 }), { late: true })} />)).toMatch(
    /2 waiting.*No answer now; last looked <time.*10 s ago/,
  );
  expect(markup(<FateLine followed={followed(null)} />)).toContain('Looking what becomes of them');
});

describe('the notice of what was sent before a reload', () => {
  const notice = (operation: string, fates: Fates | null): string => {
    const client = new QueryClient();
    client.setQueryData(['outcome', 'o', 'k'], { phase: 'done', result: { ...resultOf(['1', '2']), operation } });
    if (fates !== null) client.setQueryData(['fates', 'o', 'first'], fates);
    const sent = { outbox: 'o', outboxName: 'O', key: 'k', account: 'anna', operation, count: 2, sentAt: 0 };
    const html = markup(
      <QueryClientProvider client={client}>
        <ConsoleContext value={{ interventions: {} } as ConsoleValue}>
          <SentNotice sent={sent} onClose={() => undefined} />
        </ConsoleContext>
      </QueryClientProvider>,
    );
    client.clear();
    return html;
  };

  test('follows the fates, and has a check mark only once all are out', () => {
    const died = notice('retry', fatesOf({ failedAgain: 2 }, { sameError: 2, error: 'node answered 503' }));
    expect(died).toMatch(/Try once more: 2 of 2 died again.*2 died again, same error.*node answered 503/);
    expect(died).toContain('icon-alert-triangle');
    for (const fates of [null, fatesOf({ waiting: 2 })]) expect(notice('retry', fates)).not.toContain('icon-check');
    expect(notice('retry', fatesOf({ published: 2 }))).toMatch(/icon-check.*All 2 are out/);
    expect(notice('archive', null)).toMatch(/icon-check.*Archive: 2 events changed/);
  });
});
