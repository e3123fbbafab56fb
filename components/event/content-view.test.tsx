import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { Content } from '@/lib/shared/model';
import { ContentView } from './content-view';

const page = (content: Partial<Content>): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ContentView
          title="Payload"
          content={{ text: 'plain', format: 'text', bytes: 5, shownBytes: 5, cut: false, masked: false, warning: null, ...content }}
        />
      </MantineProvider>
    </NextIntlClientProvider>,
  );

test('what the shape says of its payload stands above the content, and nothing where it says nothing', () => {
  const words = messages.warnings.many_messages;
  expect(page({})).not.toContain(words);
  const said = page({ warning: 'many_messages' });
  expect(said.indexOf(words)).toBeGreaterThan(0);
  expect(said.indexOf(words)).toBeLessThan(said.indexOf('<pre'));
});
