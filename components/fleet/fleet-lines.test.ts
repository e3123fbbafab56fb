import { describe, expect, it, test } from 'vitest';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { Verdict } from '@/lib/shared/figures/verdicts';
import { fleetQuery, matchesFleetFilter, readFleetFilter, type FleetFilter, foldQuietLines } from './fleet-lines';

const entry = (name: string, database: string, verdict: Verdict, unread = false) =>
  ({
    outbox: { id: name.toLowerCase(), name, database, table: 'shop.outbox', shape: 'published-at' },
    summary: { diagnosis: { verdict } },
    unread,
  }) as FleetLine;

const FLEET = [
  entry('Orders', 'main', 'healthy'),
  entry('Payments', 'main', 'relay_stopped'),
  entry('Mail', 'other', 'dead_growing'),
  entry('New', 'other', 'source_down', true),
];
const shown = (filter: FleetFilter): string[] => FLEET.filter((one) => matchesFleetFilter(one, filter)).map(({ outbox }) => outbox.name);

describe('the filter of the fleet', () => {
  it('finds every word in name, table, database or shape, whatever its case', () => {
    expect(shown({})).toHaveLength(4);
    expect(shown({ q: 'pay' })).toEqual(['Payments']);
    expect(shown({ q: ' MAIN  published ' })).toEqual(['Orders', 'Payments']);
    expect(shown({ q: 'shop nothing' })).toEqual([]);
  });

  it('knows one verdict, or whatever needs somebody; of an outbox that has not been read it knows none', () => {
    expect(shown({ verdict: 'relay_stopped' })).toEqual(['Payments']);
    expect(shown({ verdict: 'needing' })).toEqual(['Payments', 'Mail']);
    expect(shown({ verdict: 'source_down' })).toEqual([]);
    expect(shown({ verdict: 'needing', database: 'other' })).toEqual(['Mail']);
  });

  it('is in the address, and an address somebody made up asks for nothing', () => {
    const filter: FleetFilter = { q: 'a b', verdict: 'needing', database: 'main' };
    expect(readFleetFilter(new URLSearchParams(fleetQuery(filter)))).toEqual(filter);
    expect(readFleetFilter(new URLSearchParams('verdict=fine'))).toEqual({});
    expect(fleetQuery({ q: '' })).toBe('');
  });
});

const line = (id: string, database: string, verdict: Verdict, unread = false) =>
  ({ outbox: { id, database }, summary: { diagnosis: { verdict } }, unread }) as FleetLine;
const told = (lines: FleetLine[]) =>
  foldQuietLines(lines).map((item) => ('away' in item ? [item.away, ...item.lines.map(({ outbox }) => outbox.id)] : item.line.outbox.id));

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
