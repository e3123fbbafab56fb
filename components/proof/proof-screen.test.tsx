import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { ProofStatus } from '@/lib/shared/changes/proofs';
import { ClockProvider } from '../figures/format';
import { ProofResults } from './proof-screen';

test('events are told by ids that may be cut, each with the whole one beside it', () => {
  const rows = ['0199d3c2-6a1b-7c3d-9e4f-000000000001', '0199d3c2-6a1b-7c3d-9e4f-000000000002'];
  const one = { operation: 'retry', state: 'dead', table: 'public.mine' } as const;
  const result = {
    ...one,
    verdict: 'round_trips',
    because: null,
    detail: null,
    rows,
    stateAfter: null,
    changed: [],
    notes: [],
    statements: [],
  };
  const last = { results: [result], notOffered: [], actor: 'anna', at: '2026-01-01T00:00:00Z', fingerprint: 'f' };
  const page = renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC" now={new Date(last.at)}>
      <ClockProvider serverNow={0}>
        <ProofResults status={{ cases: [one], last } as unknown as ProofStatus} />
      </ClockProvider>
    </NextIntlClientProvider>,
  );
  for (const row of rows) expect(page).toMatch(new RegExp(`<bdi class="[^"]*eventId[^"]*" title="${row}">${row}</bdi>`));
});
