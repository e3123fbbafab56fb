import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { NextIntlClientProvider } from 'next-intl';
import { renderToString } from 'react-dom/server';
import { expect, it } from 'vitest';
import { TREND_TYPES_MAX } from '@/lib/shared/figures/chart-view';
import messages from '@/lib/messages/en.json';
import type { OutboxInfo, Summary, TypeFigures } from '@/lib/shared/model';
import { TypeTable } from './type-table';

const names = Array.from({ length: 3 * TREND_TYPES_MAX }, (_, index) => `type-${String(index).padStart(2, '0')}`);
const figure = { value: 0, known: 'exact' };
const summaryOf = (waiting: (index: number) => number): Summary => {
  const byType = names.map((type, index): TypeFigures => ({ type, waiting: waiting(index), dead: 0, retries: 0, errors: 0, p95Ms: null }));
  return { byType, depth: { waiting: figure, dead: figure }, retries: figure, errorRate: figure, latency: figure } as unknown as Summary;
};

/** The types that trends are asked for while the table shows this summary, as sorted at first: by what waits. */
async function asked(client: QueryClient, summary: Summary): Promise<string[]> {
  const types: string[][] = [];
  const trendsAction = (input: { types: string[] }) => {
    types.push(input.types);
    return Promise.resolve({ ok: true as const, value: [] });
  };
  renderToString(
    <QueryClientProvider client={client}>
      <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
        <MantineProvider>
          <TypeTable
            outbox={{ id: 'orders' } as OutboxInfo}
            summary={summary}
            view={{ window: '1h', span: { window: '1h' } }}
            trendsAction={trendsAction}
          />
        </MantineProvider>
      </NextIntlClientProvider>
    </QueryClientProvider>,
  );
  for (const query of client.getQueryCache().getAll()) await query.fetch();
  return types.flat();
}

it('trends are asked for the types that are shown first, however they are called', async () => {
  const client = new QueryClient();
  const busiest = (types: string[]): string[] => types.slice(-TREND_TYPES_MAX).toSorted();
  expect(
    (
      await asked(
        client,
        summaryOf((index) => index),
      )
    ).toSorted(),
  ).toEqual(busiest(names));
  // What waits changes with every poll; that alone is no reason to read them all again.
  expect(client.getQueryCache().getAll()).toHaveLength(1);
  expect(
    (
      await asked(
        client,
        summaryOf((index) => -index),
      )
    ).toSorted(),
  ).toEqual(busiest(names.toReversed()));
  expect(client.getQueryCache().getAll()).toHaveLength(1);
  client.clear();
});
