/** The page of an event that is out: its story first, and one line instead of what cannot be done. */
import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { EventDetail, OutboxInfo } from '@/lib/shared/model';
import { ClockProvider } from '../figures/format';
import { ConsoleContext, type ConsoleValue } from '../frame/console';
import { Attempts } from '../figures/figure';
import { EventOperations, EventTimeline } from './event-screen';

const outbox = {
  id: 'escrow',
  name: 'Escrow',
  writable: true,
  capabilities: { operations: {}, fields: {}, keepsOrder: false },
} as unknown as OutboxInfo;
const entry = {
  id: 'e',
  at: '2026-01-01T00:00:03Z',
  actor: 'mina',
  operation: 'retry',
  outcome: 'applied',
  code: null,
  outbox: 'escrow',
  reason: 'again',
  oddities: [],
};
const detail = (state: string, rest: object = {}) =>
  ({
    asOf: '2026-01-01T00:00:05Z',
    event: {
      id: '1',
      state,
      error: 'node down',
      createdAt: '2026-01-01T00:00:01Z',
      attempts: 6,
      maxAttempts: 5,
      aggregateId: null,
      diedAt: null,
      lastAttemptAt: null,
      publishedAt: null,
      stateLabel: null,
    },
    archived: null,
    neighbours: [],
    blocks: null,
    interventions: [],
    triedBefore: {},
    operations: Object.fromEntries(
      ['retry', 'requeue', 'archive'].map((key) => [key, { allowed: false, because: 'already_published', warnings: [] }]),
    ),
    ...rest,
  }) as unknown as EventDetail;
const markup = (shown: ReactNode): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ClockProvider serverNow={0}>
          <ConsoleContext value={{ account: { role: 'operator' }, outboxes: [] } as unknown as ConsoleValue}>{shown}</ConsoleContext>
        </ClockProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  ).replace(/<style[^]*?<\/style>/g, '');

describe('an event that is out', () => {
  const page = markup(<EventTimeline outbox={outbox} detail={detail('published')} />);

  it('is told before the error it went out after, which is no alarm', () => {
    expect(page).toContain(messages.event.errorBefore);
    expect(page.indexOf('<pre')).toBeGreaterThan(page.indexOf(messages.event.timeline.title));
    expect(page).toContain('data-out="true"');
    const dead = markup(<EventTimeline outbox={outbox} detail={detail('dead')} />);
    expect(dead.indexOf('<pre')).toBeLessThan(dead.indexOf(messages.event.timeline.title));
    expect(dead).not.toContain('data-out');
  });

  it('has one line instead of what cannot be done', () => {
    const operations = (state: string) => markup(<EventOperations detail={detail(state)} outbox={outbox} onOperate={() => undefined} />);
    expect(operations('published')).toContain(messages.event.operations.published);
    expect(operations('published')).not.toContain('<li>');
    expect(operations('pending').match(/<li>/g)).toHaveLength(3);
  });

  it('is not said to have had six attempts of five', () => {
    const attempts = (state: string, count: number) =>
      markup(<Attempts event={{ attempts: count, maxAttempts: 5, state: state as 'dead' }} />);
    expect(attempts('published', 2)).toBe('2');
    expect(attempts('dead', 6)).toBe('6');
    expect(attempts('retrying', 2)).toBe('2 of 5');
  });
});

describe('an event that nothing gets past', () => {
  const operations = Object.fromEntries(['retry', 'archive'].map((key) => [key, { allowed: true, because: null, warnings: [] }]));
  const page = (blocks: EventDetail['blocks'], state = 'retrying') =>
    markup(<EventOperations detail={detail(state, { operations, blocks })} outbox={outbox} onOperate={() => undefined} />);
  const filled = (text: string) => /<button[^>]*data-variant="filled"[^]*?<\/button>/.exec(text)?.[0];

  it('offers Archive first and filled, which lets the others go', () => {
    const text = page({ count: 998, known: 'exact' });
    expect(text.indexOf('>Archive<')).toBeLessThan(text.indexOf('>Try once more<'));
    expect(filled(text)).toContain('>Archive<');
  });

  it('any other is tried again first', () => {
    expect(page(null).indexOf('>Try once more<')).toBeLessThan(page(null).indexOf('>Archive<'));
    expect(filled(page(null))).toContain('>Try once more<');
  });
});

it('the story keeps what was tried before somebody acted, as the record has it', () => {
  const story = markup(
    <EventTimeline
      outbox={outbox}
      detail={detail('pending', { interventions: [entry], triedBefore: { e: { attempts: '5', error: 'node 7 down' } } })}
    />,
  );
  expect(story).toContain('Tried 5 times until then');
  expect(story).toContain('The last error: node 7 down');
});
