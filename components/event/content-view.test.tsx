import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { Content } from '@/lib/shared/lists/shown';
import { ContentView } from './content-view';

const page = (content: Partial<Content>): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ContentView
          title="Payload"
          content={{
            text: 'plain',
            format: 'text',
            bytes: 5,
            bytesKnown: 'exact',
            unread: null,
            shownBytes: 5,
            cut: false,
            masked: false,
            warning: null,
            ...content,
          }}
          showAll={{ reading: false, ask: () => undefined }}
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

test('content that was not read says why and how large it is, and is to be had where it may be', () => {
  const words = messages.event.unread;
  const left = page({ text: null, unread: 'on_request', bytes: 1_200_000 });
  expect(left).toContain(words.on_request);
  expect(left).toContain('Show 1.2 MB');
  const huge = page({ text: null, unread: 'too_large', bytes: 52_000_000, bytesKnown: 'estimated' });
  expect(huge).toContain('about 52 MB');
  expect([huge.includes(words.too_large), huge.includes('<button'), huge.includes(messages.event.null)]).toEqual([true, false, false]);
  expect(page({ text: null, unread: 'on_request', bytes: null })).toContain(words.showAll);
});
