import { expect, test } from 'vitest';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { Verdict } from '@/lib/shared/figures/verdicts';
import { foldAway } from './fleet-items';

const line = (id: string, database: string, verdict: Verdict, unread = false) =>
  ({ outbox: { id, database }, summary: { diagnosis: { verdict } }, unread }) as FleetLine;
const told = (lines: FleetLine[]) =>
  foldAway(lines).map((item) => ('away' in item ? [item.away, ...item.lines.map(({ outbox }) => outbox.id)] : item.line.outbox.id));

test('the outboxes of a database that is away are one line, in the place of the first', () => {
  expect(
    told([
      line('a', 'gone', 'source_down'),
      line('b', 'lost', 'source_down'),
      line('c', 'gone', 'source_down'),
      line('d', 'lost', 'source_down'),
      line('e', 'up', 'relay_stopped'),
    ]),
  ).toEqual([['gone', 'a', 'c'], ['lost', 'b', 'd'], 'e']);
});

test('what is alone in its database, still answers, or was never read keeps its line', () => {
  expect(
    told([
      line('a', 'gone', 'source_down'),
      line('b', 'gone', 'healthy'),
      line('c', 'new', 'source_down', true),
      line('d', 'new', 'source_down', true),
    ]),
  ).toEqual(['a', 'b', 'c', 'd']);
});
