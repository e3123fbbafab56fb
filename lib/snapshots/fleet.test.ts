/** The order of the fleet. */
import { expect, it } from 'vitest';
import type { FleetEntry } from '@/lib/shared/figures/fleet';
import type { Verdict } from '@/lib/shared/figures/verdicts';
import { worstFirst } from './fleet';

const entry = (
  id: string,
  verdict: Verdict,
  database: string,
  counts: { waiting?: number; dead?: number; since?: string } = {},
): FleetEntry =>
  ({
    outbox: { id, database },
    unread: false,
    summary: {
      depth: { waiting: { count: counts.waiting ?? null }, dead: { count: counts.dead ?? null } },
      diagnosis: { verdict, since: counts.since ?? null },
    },
  }) as FleetEntry;
const orderOf = (entries: FleetEntry[]): string =>
  worstFirst(entries)
    .map(({ outbox }) => outbox.id)
    .join(' ');

it('of databases that are away the one comes first in which most waited or was dead, then the one longest away', () => {
  const at = (minute: number) => `2026-01-01T00:0${String(minute)}:00Z`;
  expect(
    orderOf([
      entry('never-b', 'source_down', 'b', { since: at(2) }),
      entry('never-a', 'source_down', 'a', { since: at(1) }),
      entry('few', 'source_down', 'c', { waiting: 3, since: at(3) }),
      entry('dead', 'source_down', 'd', { dead: 40, since: at(4) }),
      entry('beside-few', 'source_down', 'c', { waiting: 38, since: at(3) }),
    ]),
  ).toBe('few beside-few dead never-a never-b');
});

it('of others the one in which most waits comes first, and one that was not read comes last', () => {
  const unread = { ...entry('unread', 'relay_stopped', 'a'), unread: true };
  expect(
    orderOf([
      unread,
      entry('small', 'healthy', 'a', { waiting: 1 }),
      entry('large', 'healthy', 'a', { waiting: 9 }),
      entry('stopped', 'relay_stopped', 'a'),
    ]),
  ).toBe('stopped large small unread');
});
