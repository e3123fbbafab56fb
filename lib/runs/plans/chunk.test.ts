import { createHash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PLAN_CHUNK, PLAN_EVENTS_MAX } from '@/lib/shared/runs/plans';
import { aggregateHash, packChunk, unpackChunk, type PlannedEvent } from './chunk';

const digest = (text: string): string => createHash('md5').update(text).digest('hex');

it('gives back what was put in', () => {
  const text = fc.option(fc.string({ unit: 'binary' }));
  const event = fc.record({ id: fc.string(), version: fc.string(), amount: text, currency: text, aggregate: text });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 50 }), (events) => {
      expect(unpackChunk(packChunk(events))).toEqual(events);
    }),
  );
});

it('keeps 250,000 events in less than 20 MB, with ids and digests that share nothing', () => {
  const events = Array.from({ length: PLAN_CHUNK }, (_, i): PlannedEvent => {
    const version = `m.dead.${digest(`exact ${i}`)}.${digest(`stable ${i}`)}.0`;
    return {
      id: randomUUID(),
      version,
      amount: `${i * 7}.${String(i % 100).padStart(2, '0')}`,
      currency: 'EUR',
      aggregate: aggregateHash('order', `o-${i}`),
    };
  });
  const bytes = packChunk(events).length * (PLAN_EVENTS_MAX / PLAN_CHUNK);
  expect(bytes).toBeLessThan(20 * 1_048_576);
});

it('tells aggregates apart by type and id', () => {
  expect(aggregateHash('a', null)).toBeNull();
  expect(new Set([aggregateHash('a', '1'), aggregateHash(null, '1'), aggregateHash('a', '2'), aggregateHash('a1', '')]).size).toBe(4);
});
