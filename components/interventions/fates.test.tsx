import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { NextIntlClientProvider } from 'next-intl';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { resultOf } from '@/fixtures/intervention-result';
import messages from '@/lib/messages/en.json';
import { type Fate, type Fates, FATES, joinFates } from '@/lib/shared/changes/fates';
import { ClockProvider } from '../figures/time';
import { dueOf, FateLine, type Followed, hueOf, useResultSentence } from './fates';
import { ConsoleContext, type ConsoleValue } from '../frame/console';
import { HaltedPanel, RunningPanel, SentNotice } from './panels';
import type { Halt } from './send';

const fatesOf = (counts: Partial<Record<Fate, number>>, over: Partial<Fates> = {}): Fates => {
  const fates = Object.fromEntries(FATES.map((fate) => [fate, counts[fate] ?? 0])) as Fates['fates'];
  const events = FATES.flatMap((fate) => Array.from({ length: fates[fate] }, (_, index) => ({ id: `${fate}-${String(index)}`, fate })));
  return { asOf: '2026-01-01T00:00:00Z', fates, goneIsOut: false, sameError: null, error: null, events, ...over };
};
const followed = (fates: Fates | null, over: Partial<Followed> = {}): Followed => ({ fates, unseen: 0, late: false, ...over });

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
  [
    'some not looked at',
    followed(fatesOf({ published: 200 }), { unseen: 60 }),
    'Sent again: 200 of 260',
    '200 out · 60 not looked',
    'grey',
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

test('fates of the parts of a decision are summed, and as known as the least known', () => {
  const [one, other] = [fatesOf({ failedAgain: 2 }, { sameError: 2 }), fatesOf({ failedAgain: 1, published: 4 }, { sameError: 0 })];
  expect(joinFates([one, other])).toMatchObject({ fates: { failedAgain: 3, published: 4 }, sameError: 2 });
  expect(joinFates([one, fatesOf({ failedAgain: 1 })])?.sameError).toBeNull();
  expect(joinFates([one, fatesOf({ published: 1 })])?.sameError).toBe(2);
  expect(joinFates([])).toBeNull();
});

test('of many parts the unknown are asked after first, then the oldest with events under way; at most five', () => {
  const at = (second: number, counts: Partial<Record<Fate, number>>): Fates =>
    fatesOf(counts, { asOf: `2026-01-01T00:00:0${String(second)}Z` });
  const known = { a: at(3, { waiting: 1 }), b: at(1, { retrying: 1 }), c: at(0, { published: 9 }) };
  expect(dueOf(['a', 'b', 'c', 'd'], known)).toEqual(['d', 'b', 'a']);
  expect(dueOf(['1', '2', '3', '4', '5', '6'], {})).toEqual(['1', '2', '3', '4', '5']);
  expect(dueOf(['c'], known)).toEqual([]);
});

describe('the notice of what was sent before a reload', () => {
  const notice = (operation: string, fates: Fates | null): string => {
    const client = new QueryClient();
    client.setQueryData(['outcome', 'o', 'k'], { result: { ...resultOf(['1', '2']), operation } });
    if (fates !== null) client.setQueryData(['fates', 'o', ['first']], { first: fates });
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

describe('after one event went first', () => {
  const panel = (operation: string, of: Followed | null, result = resultOf(['1']), halt: Halt = { why: 'tried' }): string =>
    markup(
      <HaltedPanel
        run={{
          phase: 'halted',
          progress: { total: 45, changed: result.changed.length, skipped: result.skipped.length },
          halt,
          results: [{ ...result, operation }],
        }}
        followed={of}
        opening={{ subject: { id: 'o', name: 'O' }, operation, events: [], key: 'k' }}
        onGoOn={() => undefined}
        onClose={() => undefined}
      />,
    );
  const filled = (html: string): string[] =>
    [...html.matchAll(/<button[^>]*data-variant="(\w+)"[^>]*>.*?<\/button>/g)].flatMap(([button, variant]) =>
      variant === 'filled' ? [button.replaceAll(/<[^>]*>/g, '')] : [],
    );

  test('Stop is the filled button if it died again, and going on has to be said twice', () => {
    const html = panel('retry', followed(fatesOf({ failedAgain: 1 }, { sameError: 1 })));
    expect(filled(html)).toEqual(['Stop']);
    expect(html).toContain('Send the other 44 all the same');
    expect(html).not.toContain('Go on with');
  });

  test('going on is the filled button only once it is out', () => {
    expect(filled(panel('retry', followed(fatesOf({ published: 1 }))))).toEqual(['Go on with the other 44']);
    for (const fate of ['waiting', 'notKnown', 'gone'] as const)
      expect(filled(panel('retry', followed(fatesOf({ [fate]: 1 }))))).toEqual([]);
    expect(filled(panel('retry', followed(null)))).toEqual([]);
  });

  test('of one that was left alone it says why, and recommends nothing', () => {
    const html = panel('retry', null, resultOf([], ['1']));
    expect(html).toContain(messages.skips.locked);
    expect(html).not.toContain('watch how it fares');
    expect(filled(html)).toEqual([]);
  });

  test('an archived event has no fate to wait for', () => {
    const html = panel('archive', null);
    expect(html).toContain('1 event is in the archive');
    expect(filled(html)).toEqual(['Go on with the other 44']);
  });
});

test('a running decision says what waits, and of its parts only where there are several', () => {
  const panel = (total: number, trying: boolean) =>
    markup(
      <RunningPanel
        run={{ phase: 'sending', progress: { total, changed: 0, skipped: 0 }, several: true, trying }}
        onStop={() => undefined}
      />,
    );
  expect(panel(16, true)).toContain('One event goes first. The other 15 wait until you go on.');
  expect(panel(460, true)).not.toContain('In parts of');
  expect(panel(16, false)).not.toContain('In parts of');
  expect(panel(460, false)).toContain('In parts of 200');
});
