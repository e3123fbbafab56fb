import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import messages from '@/lib/messages/en.json';
import { noFigures } from '@/lib/figures/summarise';
import type { OutboxInfo } from '@/lib/shared/model';
import { ago, judge, NOW, type Given } from '@/fixtures/readings';
import { ClockProvider } from '../figures/time';
import { VerdictBanner } from './verdict-banner';

const banner = (given: Given): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ClockProvider serverNow={NOW}>
          <VerdictBanner
            outbox={{ id: 'escrow' } as OutboxInfo}
            summary={{ ...noFigures('1h', ago(0), 'no_events'), diagnosis: judge(given) }}
            onRefresh={() => Promise.resolve()}
          />
        </ClockProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  );

const deaths: Given = { dead: { recent: 1, first: ago(60), dead: 1 } };

it('names every verdict that holds, since when, and where to go on', () => {
  const text = banner({ ...deaths, stuck: { stuck: 1, oldest: ago(900) } });
  expect(text).toContain('href="/outboxes/escrow/dead-letters"');
  expect(text).toMatch(/Stuck.*<time [^>]*datetime="[^"]*".*href="\/outboxes\/escrow\/events\?state=processing/i);
  expect(text).toContain(`dateTime="${ago(600)}"`);
});

it('says nothing of others where one holds alone', () => {
  expect(banner(deaths)).not.toContain('>Also<');
  expect(banner({ ...deaths, stuck: { stuck: 1, oldest: ago(900) } })).toContain('>Also<');
});
