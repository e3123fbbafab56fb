import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import { DEFAULT_PACE, NO_COUNTS, type Run } from '@/lib/shared/runs/runs';
import { RunControls } from './run-controls';

const controls = (run: Pick<Run, 'state' | 'because'>): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <QueryClientProvider client={new QueryClient()}>
          <RunControls
            run={{ ...NO_COUNTS, id: 'r', outbox: 'escrow', pace: DEFAULT_PACE, followed: true, ...run } as Run}
            actions={{} as Parameters<typeof RunControls>[0]['actions']}
            onChanged={() => Promise.resolve()}
          />
        </QueryClientProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  ).replaceAll(/<style[^]*?<\/style>|<[^>]*>/g, ' ');

test('a run is resumed where it waits for a word, and paused where it goes on by itself', () => {
  for (const because of ['operator', 'first_is_out', 'same_cause'] as const)
    expect(controls({ state: 'paused', because })).toMatch(/Resume(?!.*Pause)/);
  for (const run of [
    { state: 'running', because: null },
    { state: 'queued', because: null },
    { state: 'paused', because: 'unavailable' },
  ] as const)
    expect(controls(run)).toMatch(/Pause(?!.*Resume)/);
});
