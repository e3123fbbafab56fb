import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resultOf } from '@/fixtures/intervention-result';
import { batchesOf, joinResults } from './batches';
import { INTERVENTION_EVENTS_MAX } from '../model';

const events = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i), version: `v${String(i)}` }));

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
  expect(joinResults([resultOf(['a']), resultOf(['b'])])).toMatchObject({ outcome: 'applied', changed: ['a', 'b'] });
  expect(joinResults([resultOf(['a']), resultOf([], ['b'])])).toMatchObject({ outcome: 'partly', skipped: [{ id: 'b' }] });
  expect(joinResults([resultOf([], ['a']), resultOf([], ['b'])])).toMatchObject({ outcome: 'none', interventionId: 'first' });
});
