import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import { useFormat } from './format';

const NOW = Date.parse('2026-01-01T00:00:10Z');

function Relative({ at }: { at: string }) {
  return useFormat().relative(at, NOW);
}

test.each([
  ['2026-01-01T00:00:04Z', '6 s ago'],
  ['2026-01-01T00:00:10Z', '0 s ago'],
  // Made a moment ago, as a page sees it whose clock is from before.
  ['2026-01-01T00:00:11.9Z', '0 s ago'],
  ['2026-01-01T00:00:14Z', 'in 4 s'],
])('%s is %s at 00:00:10', (at, text) => {
  const shown = (
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <Relative at={at} />
    </NextIntlClientProvider>
  );
  expect(renderToStaticMarkup(shown)).toBe(text);
});
