import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { ProofResult } from '@/lib/shared/proofs';
import { ResultDetails } from './result-details';

const DIGEST = '3f2a9c01d4e5b6a7c8d9e0f1a2b3c4d5';
const result = (digested?: string[]): ProofResult => ({
  operation: 'requeue',
  state: 'dead',
  table: 'outbox',
  verdict: 'round_trips',
  because: null,
  detail: null,
  row: null,
  stateBefore: 'dead',
  stateAfter: 'pending',
  before: { id: '7', body: DIGEST, status: 'FAILED' },
  after: { id: '7', body: DIGEST, status: 'NEW' },
  changed: ['status'],
  statements: [],
  notes: [],
  ...(digested === undefined ? {} : { digested }),
});
const page = (of: ProofResult): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <ResultDetails result={of} />
    </NextIntlClientProvider>,
  );

test('a digest of content is called one, before and after, and only that', () => {
  const said = page(result(['body']));
  expect(said.split(`>${messages.proof.digest}<`)).toHaveLength(3);
  expect(said).toContain(messages.proof.digests.replace('{columns}', 'body'));
  // A proof that was kept before this was told.
  expect(page(result())).not.toContain(messages.proof.digests.slice(0, 20));
});
