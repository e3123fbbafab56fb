import { expect, test } from 'vitest';
import { fleetLine, type FleetEntry } from './fleet';
import type { Verdict } from './verdicts';

const entry = (verdict: Verdict, evidence: { code: string; values: Record<string, number> }[], sparkline: (number | null)[]) =>
  ({
    outbox: { id: 'o', name: 'O', database: 'd', table: 't', shape: 's', engine: 'postgres', writable: true },
    summary: {
      asOf: '2026-01-01T00:00:00Z',
      window: '1h',
      oldestPendingAt: null,
      lastPublishedAt: null,
      slot: null,
      depth: { waiting: { count: 1, known: 'exact' }, dead: { count: 0, known: 'exact' }, pending: { count: 1, known: 'exact' } },
      latency: { p50Ms: 1, p95Ms: 281.543, p99Ms: 3, meanMs: 41.26, meanErrorMs: 3.04, count: 9, known: 'estimated', errorShare: 0.01538 },
      diagnosis: { verdict, since: null, evidence },
    },
    stale: null,
    unread: false,
    sparkline,
  }) as unknown as FleetEntry;

test('a line holds what the screen says of an outbox and nothing else, not even the word undefined', () => {
  const line = fleetLine(entry('healthy', [], [null, null, 3, null, 4]));
  expect(Object.keys(line.summary).sort()).toEqual(['asOf', 'depth', 'diagnosis', 'lastPublishedAt', 'latency', 'oldestPendingAt', 'slot']);
  expect(line.summary.latency).toStrictEqual({ known: 'estimated', p95Ms: 281.5, meanMs: 41.3, meanErrorMs: 3, errorShare: 0.015 });
  expect(Object.keys(line.outbox)).not.toContain('engine');
  expect(line.sparkline).toEqual([3, null, 4]);
  const unpublished = entry('healthy', [], []);
  unpublished.summary.lastPublishedWhy = 'no_events';
  expect(fleetLine(unpublished).summary).toHaveProperty('lastPublishedWhy', 'no_events');
  expect(fleetLine(entry('healthy', [], [null, null])).sparkline).toEqual([]);
});

test('the facts that the sentence speaks of come along; the first one, whatever it is, where an outbox cannot be seen', () => {
  const facts = ['rows_hidden', 'newly_dead', 'fresh_for_tests', 'died_again'].map((code) => ({ code, values: {} }));
  const kept = (verdict: Verdict) => fleetLine(entry(verdict, facts, [])).summary.diagnosis.evidence.map(({ code }) => code);
  expect(kept('dead_growing')).toEqual(['newly_dead', 'died_again']);
  expect(kept('cannot_see')).toEqual(['rows_hidden', 'newly_dead', 'died_again']);
});
