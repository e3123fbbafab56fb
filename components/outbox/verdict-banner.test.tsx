import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import messages from '@/lib/messages/en.json';
import { noFigures } from '@/lib/figures/summarise';
import type { MarkedSnapshot } from '@/lib/shared/figures/chart-view';
import type { OutboxInfo } from '@/lib/shared/model';
import { ago, historyOf, judge, NOW, type Given } from '@/fixtures/readings';
import { ClockProvider } from '../figures/format';
import { VerdictBanner } from './verdict-banner';

const banner = (
  given: Given,
  runbook: string | null = null,
  sessions?: MarkedSnapshot['sessions'],
  stale: MarkedSnapshot['stale'] = null,
  run: MarkedSnapshot['run'] = null,
): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ClockProvider serverNow={NOW}>
          <VerdictBanner
            outbox={{ id: 'escrow', runbook } as OutboxInfo}
            summary={{ ...noFigures('1h', ago(0), 'no_events'), diagnosis: judge(given, [], { history: historyOf(400) }) }}
            sessions={sessions}
            stale={stale}
            run={run}
            onRefresh={() => Promise.resolve()}
          />
        </ClockProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  );

const deaths: Given = { dead: { recent: 1, first: ago(60), dead: 1 } };

it('names the run that goes on, which may be what the verdict is of', () => {
  const run = { id: 'r-1', maker: 'mina', requested: 4_012, remaining: 3_000 };
  expect(banner(deaths, null, undefined, null, run)).toMatch(
    /href="\/runs\/r-1"[^>]*>A run by mina<\/a> is under way: 1,012 of 4,012 done with/,
  );
  expect(banner(deaths)).not.toContain('A run by');
});

it('names every verdict that holds, since when, and where to go on', () => {
  const text = banner({ ...deaths, stuck: { stuck: 1, oldest: ago(900) } });
  expect(text).toContain('href="/outboxes/escrow/dead-letters"');
  expect(text).toMatch(/Stuck.*since <time [^>]*datetime="[^"]*".*href="\/outboxes\/escrow\/events\?state=processing/i);
  expect(text).toContain(`dateTime="${ago(600)}"`);
});

it('does not say again what its sentence says, so that there is room for what died again', () => {
  const acts = [{ at: ago(30), operation: 'requeue', actor: 'mina', count: 40 }];
  const cause = { type: 'order.paid', error: 'node away', count: 1, of: 1 };
  const text = banner({ dead: { recent: 1, first: ago(60), dead: 1, cause }, acts, touched: { touched: 9, again: 9 } });
  expect(text.match(/died in the last|died within the last/g)).toHaveLength(1);
  expect(text).toMatch(/9 sent again .*node away.*mina/);
});

describe('after a thousand events sent again and three hundred dead again', () => {
  const acted: Given = {
    acts: [{ at: ago(70), operation: 'requeue', actor: 'mina', count: 1_000 }],
    touched: { touched: 300, again: 300 },
  };
  const stopped: Given = { lastPublishedAt: ago(500), relay: { due: 900, firstDue: ago(400) } };
  const stuck: Given = { stuck: { stuck: 3, oldest: ago(900) } };
  const dead: Given = { dead: { recent: 40, first: ago(60), dead: 340 } };

  it.each([
    ['Healthy', {}],
    ['Relay stopped', stopped],
    ['Stuck', stuck],
    ['Dead growing', dead],
    ['Broker refusing', { broker: { count: 50, types: 2, first: ago(60), last: ago(1) }, lastPublishedAt: ago(90) }],
  ])('the sentence says so, and the facts who sent them: %s', (name, given) => {
    const text = banner({ ...acted, ...given });
    expect(text).toContain(name);
    expect(text.match(/300 sent again have died again/g)).toHaveLength(1);
    expect(text).toContain('mina started 1,000 events over');
  });

  it('a stopped relay says besides how long it needs once it is back, what died and what is stuck', () => {
    const text = banner({ ...acted, ...stopped, ...stuck, ...dead });
    for (const fact of ['Once it is back it needs', 'mina started', '40 events died within', '3 events have been in processing'])
      expect(text).toContain(fact);
  });
});

it('says nothing of others where one holds alone', () => {
  expect(banner(deaths)).not.toContain('>Also<');
  expect(banner({ ...deaths, stuck: { stuck: 1, oldest: ago(900) } })).toContain('>Also<');
});

describe('where the relay has stopped', () => {
  const stopped: Given = { lastPublishedAt: ago(500), relay: { due: 9, firstDue: ago(400) } };

  it('says what the console cannot do and what to check, and lists no waiting events', () => {
    const text = banner(stopped);
    expect(text).toContain('The console cannot start the relay');
    expect(text).toContain('Read again now');
    expect(text).not.toContain('/events');
  });

  it('names who is connected, or says that nobody is, or that the server does not show it', () => {
    expect(banner(stopped, null, [{ name: 'shop-relay', count: 2 }])).toContain('Connected to this database now: shop-relay (2).');
    expect(banner(stopped, null, [])).toContain('Nobody else is connected');
    expect(banner(stopped, null, null)).toContain('the server does not show');
    expect(banner(deaths, null, [])).not.toContain('connected');
  });

  it('leads to the runbook of the outbox', () => {
    const text = banner(stopped, 'https://wiki.example.com/orders');
    expect(text).toMatch(
      /<a [^>]*target="_blank"[^>]*href="https:\/\/wiki.example.com\/orders"|<a [^>]*href="https:\/\/wiki.example.com\/orders"[^>]*target="_blank"/,
    );
    expect(banner(deaths, 'https://wiki.example.com/orders')).not.toContain('wiki');
  });
});

it('a poison row leads to the event that fails, not to all that wait', () => {
  const endless: Given = {
    poison: {
      most: [
        { at: ago(300), type: 'paid', error: 'bad', attempts: 900 },
        { at: ago(200), type: 'paid', error: null, attempts: 1 },
      ],
    },
  };
  const from = new URLSearchParams({ from: ago(300), to: new Date(Date.parse(ago(300)) + 1).toISOString() }).toString();
  expect(banner(endless)).toContain(`order=oldest&amp;${from.replaceAll('&', '&amp;')}`);
});

it('says of when its figures are, after all that stays', () => {
  expect(banner({ ...deaths, stuck: { stuck: 1, oldest: ago(900) } }, null, undefined, { since: ago(40), problem: 'store' })).toMatch(
    /Since .*own database.*last good reading at .*<\/ul><ul.*Stuck/,
  );
});
