import { expect, test } from 'vitest';
import type { AuditEntry, EventDetail } from '@/lib/shared/model';
import { timelineItems } from './story';

const entry = (at: string, interventionId: string) => ({ id: at, at, interventionId, operation: 'archive' }) as AuditEntry;
const detail = (event: Partial<EventDetail['event']>, rest: Partial<EventDetail> = {}) =>
  ({
    event: { createdAt: null, lastAttemptAt: null, diedAt: null, publishedAt: null, attempts: null, ...event },
    interventions: [],
    archived: null,
    ...rest,
  }) as unknown as EventDetail;
const kinds = (value: EventDetail) => timelineItems(value).map(({ kind }) => kind);

test('what happened is told in order of time, whatever order it came in', () => {
  const story = detail(
    { createdAt: '2026-01-01T00:00:00.5Z', lastAttemptAt: '2026-01-01T00:02:00Z', diedAt: '2026-01-01T00:02:00Z', attempts: 3 },
    { interventions: [entry('2026-01-01T00:03:00Z', 'b'), entry('2026-01-01T00:01:00Z', 'a')] },
  );
  expect(kinds(story)).toEqual(['created', 'intervention', 'attempted', 'intervention']);
});

test('one stamp for claim and success is one line', () => {
  expect(kinds(detail({ lastAttemptAt: '2026-01-01T00:00:01Z', publishedAt: '2026-01-01T00:00:01Z' }))).toEqual(['published']);
});

test('an archiving is told once', () => {
  const archived = { at: '2026-01-01T00:03:00Z', by: 'mina', reason: 'poison', fromState: 'dead', interventionId: 'a' } as const;
  expect(kinds(detail({}, { archived }))).toEqual(['archived']);
  expect(kinds(detail({}, { archived, interventions: [entry('2026-01-01T00:03:00Z', 'a')] }))).toEqual(['intervention']);
});

test('a table without times tells nothing', () => {
  expect(timelineItems(detail({}))).toEqual([]);
});
