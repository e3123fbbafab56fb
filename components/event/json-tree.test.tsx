import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import { JsonTree } from './json-tree';

const tree = (text: string): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <JsonTree text={text} fallback={null} />
    </NextIntlClientProvider>,
  );

test.each([
  ['a text', (length: number) => JSON.stringify('x'.repeat(length - 2))],
  ['a number', (length: number) => '7'.repeat(length)],
])('%s of a megabyte is shown by its beginning, the rest is asked for', (_, value) => {
  const long = tree(`{"data":${value(1_000_000)}}`);
  expect(long.length).toBeLessThan(5_000);
  expect(long).toContain('Show more (998,000 characters left)');
  expect(tree(`{"data":${value(2_000)}}`)).not.toContain('<button');
});
