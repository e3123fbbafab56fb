import { MantineProvider } from '@mantine/core';
import { NextIntlClientProvider } from 'next-intl';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import messages from '@/lib/messages/en.json';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { FleetNews } from '@/lib/shared/doctor';
import type { DeadLetterGroup } from '@/lib/shared/dead-letter-groups';
import { ClockProvider } from '../figures/format';
import { News } from './fleet-news';

const group: DeadLetterGroup = {
  id: 'c1',
  outbox: 'escrow',
  type: 'order_complete',
  error: 'node … down',
  count: 40,
  firstSeenAt: null,
  lastSeenAt: '2026-01-01T00:00:00Z',
  seen: 'died',
  samples: ['1'],
  sums: [{ amount: '12.50', currency: 'EUR' }],
  summed: 38,
  known: 'exact',
  retrying: 0,
  note: null,
  newSince: null,
};
const entry = {
  id: 'e',
  at: '2026-01-01T00:00:00Z',
  actor: 'mina',
  operation: 'retry',
  outbox: 'escrow',
  reason: 'node is back',
  outcome: 'applied',
  oddities: [],
  eventId: 'x',
  code: null,
  interventionId: null,
  before: null,
  after: null,
};
const none = {
  groups: [],
  moreGroups: 0,
  searched: { complete: true, rows: 0, outboxes: 0, unread: 0 },
  atStake: { sums: [], whole: true },
  actions: [],
  verdicts: [],
  changes: 'all',
} as const;
const shown = (news: Partial<FleetNews>): string =>
  renderToStaticMarkup(
    <NextIntlClientProvider locale="en" messages={messages} timeZone="UTC">
      <MantineProvider>
        <ClockProvider serverNow={0}>
          <News news={{ ...none, ...news } as FleetNews} entries={[{ outbox: { id: 'escrow', name: 'Escrow' } } as FleetLine]} />
        </ClockProvider>
      </MantineProvider>
    </NextIntlClientProvider>,
  ).replace(/<style[^]*?<\/style>/g, '');

test('where nothing died and nothing changed both parts say so, and keep their place', () => {
  expect(shown({})).toMatch(/No events are dead\..*Nothing changed, and nobody acted\./);
  expect(shown({ searched: { ...none.searched, complete: false } })).toContain('No causes are known.');
});

test('verdicts that began or ended stand among the actions, the last change first', () => {
  const span = { outbox: 'escrow', verdict: 'dead_growing', beganAt: '2025-12-31T23:50:00Z', endedAt: null } as const;
  const page = shown({
    actions: [{ ...entry, events: { changed: 45, left: 0 } }] as unknown as FleetNews['actions'],
    verdicts: [
      { ...span, verdict: 'stuck_processing', endedAt: '2026-01-01T00:01:00Z' },
      { ...span, verdict: 'dead_growing' },
    ],
  }).replace(/<[^>]*>/g, ' ');
  expect(page).toMatch(/Stuck .* ended at .*Escrow.*mina .*Dead growing .* began at .*Escrow/);
});

test('causes name their outbox and lead to their rows; what is at stake is said to be more where amounts are missing', () => {
  const page = shown({ groups: [group], atStake: { sums: group.sums, whole: false } });
  expect(page).toContain('/outboxes/escrow/dead-letters?type=order_complete&amp;cause=');
  expect(page).toContain('<bdi>Escrow</bdi>');
  expect(page).toContain('At stake: 12.50 EUR or more');
  expect(page).toContain('≥ 12.50\u00a0EUR');
  expect(page).not.toContain('<button');
});

test('a list that is not whole says so: causes of the newest, of some outboxes; changes that are the newest, or not known', () => {
  const text = (news: Partial<FleetNews>): string => shown(news).replace(/<[^>]*>/g, '');
  expect(text({})).not.toMatch(/newest|audit|with most/);
  const searched = { complete: false, rows: 1_000, outboxes: 20, unread: 0 };
  expect(text({ groups: [group], searched })).toContain('Counted over the newest 1,000 dead events of each outbox. Only the 20 outboxes');
  expect(text({ groups: [group], searched: { ...searched, rows: 0 } })).not.toContain('newest');
  // Not answered in time: not a list without them.
  const late = { searched: { ...none.searched, complete: false, unread: 1 } };
  expect(text({ groups: [group], ...late })).toContain('The causes of 1 outbox have not been read.');
  expect(text(late)).not.toContain('No causes are known.');
  expect(text({ changes: 'newest' })).toMatch(/These are the newest.*audit/);
  expect(text({ changes: 'unread' })).toMatch(/The console’s store does not answer: what changed is not known\.$/);
  expect(text({ changes: 'unread' })).not.toContain('Nothing changed');
});

test('where no table tells when an event died, the heading says that the time is of its creation; among others its line does', () => {
  const created: DeadLetterGroup = { ...group, type: 'order_open', seen: 'created' };
  const text = (...groups: FleetNews['groups']): string => shown({ groups }).replace(/<[^>]*>/g, '|');
  expect(text(group)).toMatch(/Last death/);
  expect(text(created)).not.toMatch(/Last death/);
  expect(text(created)).toMatch(/Last created/);
  expect(text(group, created)).toMatch(/Last death.*12\.50\s[^|]*\|+in.*created \|+in/);
});

test('who acted is named with what was done, to how many events, and why', () => {
  const page = shown({ actions: [{ ...entry, events: { changed: 45, left: 0 } }] as unknown as FleetNews['actions'] });
  expect(page.replace(/<[^>]*>/g, '')).toMatch(/mina .*45 events of Escrow.*node is back/);
});
