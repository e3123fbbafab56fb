import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchesOf, joinResults, progressOf, runBatches, type BatchEnd } from './batches';
import { INTERVENTION_EVENTS_MAX, type InterventionResult } from '../model';

const events = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i), version: `v${String(i)}` }));
const result = (changed: string[], skipped: string[] = []): InterventionResult => ({
  interventionId: 'first',
  outbox: 'o',
  operation: 'requeue',
  reason: 'why',
  actor: 'anna',
  at: '2026-01-01T00:00:00Z',
  outcome: 'applied',
  changed,
  skipped: skipped.map((id) => ({ id, code: 'locked' })),
  undo: null,
});

test('every event is in exactly one batch of bounded size, in order, under a key of its own', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_500 }), fc.integer({ min: 0, max: 1 }), (count, first) => {
      const batches = batchesOf('key', events(count), first);
      expect(batches.flatMap((batch) => batch.events)).toEqual(events(count));
      expect(batches.every((batch) => batch.events.length >= 1 && batch.events.length <= INTERVENTION_EVENTS_MAX)).toBe(true);
      expect(new Set(batches.map(({ key }) => key)).size).toBe(batches.length);
    }),
  );
});

test('a decision that fits into one intervention keeps its own key', () => {
  expect(batchesOf('key', events(200)).map(({ key }) => key)).toEqual(['key']);
  expect(batchesOf('key', events(201)).map(({ key }) => key)).toEqual(['key/1', 'key/2']);
  expect(batchesOf('key', events(69), 1).map((batch) => batch.events.length)).toEqual([1, 68]);
});

test('results are told as one, with the outcome of the whole', () => {
  expect(joinResults([result(['a']), result(['b'])])).toMatchObject({ outcome: 'applied', changed: ['a', 'b'] });
  expect(joinResults([result(['a']), result([], ['b'])])).toMatchObject({ outcome: 'partly', skipped: [{ id: 'b' }] });
  expect(joinResults([result([], ['a']), result([], ['b'])])).toMatchObject({ outcome: 'none', interventionId: 'first' });
});

test('a run ends between two batches when told to, and goes on with the next one', async () => {
  const batches = batchesOf('key', events(700));
  const sent: string[] = [];
  const results: InterventionResult[] = [];
  const go = (from: number, stopAt: number) =>
    runBatches<string>(batches, from, {
      halted: (index) => (index === stopAt ? { why: 'stopped' } : null),
      send: ({ key, events: part }) => {
        sent.push(key);
        return Promise.resolve({ result: result(part.map(({ id }) => id)) });
      },
      onResult: (one) => results.push(one),
    });
  expect(await go(0, 2)).toEqual({ why: 'stopped' });
  expect(progressOf(batches, results)).toEqual({ total: 700, changed: 400, skipped: 0 });
  expect(await go(results.length, -1)).toBeNull();
  expect(sent).toEqual(['key/1', 'key/2', 'key/3', 'key/4']);
});

test('a batch that fails ends the run, and the ones after it are not sent', async () => {
  const ends: BatchEnd<string>[] = [{ result: result(['0']) }, { halt: { why: 'problem', problem: 'unavailable' } }];
  const sent: string[] = [];
  const halt = await runBatches<string>(batchesOf('key', events(700)), 0, {
    halted: () => null,
    send: ({ key }) => {
      sent.push(key);
      return Promise.resolve(ends[sent.length - 1] ?? 'gone');
    },
    onResult: () => undefined,
  });
  expect(halt).toEqual({ why: 'problem', problem: 'unavailable' });
  expect(sent).toEqual(['key/1', 'key/2']);
});
