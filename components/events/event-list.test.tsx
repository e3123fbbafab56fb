import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import { TakingBar } from './event-list';
import type { Taking } from './ticks';

const bar = (taking: Taking): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <TakingBar taking={taking} onCancel={() => undefined} />
      </MantineProvider>
    </NextIntlClientProvider>,
  );

test('a reading that found nothing says so, and whether it saw the whole list', () => {
  expect(bar({ phase: 'nothing', whole: true })).toContain('0 events: the list held none when it was read');
  expect(bar({ phase: 'nothing', whole: false })).toContain('0 events as far as the search reached');
});
