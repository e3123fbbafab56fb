import { describe, expect, test } from 'vitest';
import type { OutboxInfo, Skipped } from '@/lib/shared/model';
import { attemptsOf, groupSkipped, operationChoices } from './operations';

const outbox = {
  writable: true,
  capabilities: {
    operations: {
      archive: { offered: true, from: ['dead', 'pending'], warnings: [] },
      release: { offered: false, because: 'not_claimed' },
      restore: { offered: true, from: ['archived'], warnings: [] },
      retry: { offered: true, from: ['dead'], warnings: [] },
    },
  },
} as unknown as OutboxInfo;
const events = (...states: ('dead' | 'pending' | 'archived' | 'unmapped' | 'published')[]) => states.map((state) => ({ state }));

test('each operation says how many of the events it applies to, in the order they are offered', () => {
  expect(operationChoices(outbox, events('dead', 'pending', 'published'), true)).toEqual([
    { operation: 'retry', allowed: 1, obstacle: null },
    { operation: 'release', allowed: 0, obstacle: 'not_claimed' },
    { operation: 'archive', allowed: 2, obstacle: null },
  ]);
});

test('archived events offer restore and nothing else', () => {
  expect(operationChoices(outbox, events('archived'), true)).toEqual([{ operation: 'restore', allowed: 1, obstacle: null }]);
});

test('states an operation does not apply to are named', () => {
  expect(operationChoices(outbox, events('published'), true)[0]).toEqual({
    operation: 'retry',
    allowed: 0,
    obstacle: ['dead'],
  });
});

test('a row of unknown state offers nothing', () => {
  expect(operationChoices(outbox, events('unmapped'), true).every(({ obstacle }) => obstacle !== null)).toBe(true);
});

test('a viewer and a read-only outbox are told so', () => {
  expect(operationChoices(outbox, events('dead'), false)[0]?.obstacle).toBe('forbidden');
  expect(operationChoices({ ...outbox, writable: false }, events('dead'), true)[0]?.obstacle).toBe('read_only');
});

describe('rows that were left alone', () => {
  const textOf: Parameters<typeof groupSkipped>[1] = (code, detail) =>
    [code, detail?.because, detail?.state, detail?.at].filter(Boolean).join(' ');
  const published = (id: string, at: string | null, because?: string): Skipped => ({
    id,
    code: 'already_published',
    detail: { state: 'published', at, ...(because === undefined ? {} : { because }) },
  });
  const grouped = (...skipped: Skipped[]) => groupSkipped(skipped, textOf).map(({ why, ids }) => `${ids.join('')}: ${why}`);

  test('are grouped by reason, published ones too', () => {
    expect(
      grouped(published('a', '09:00'), published('b', '09:00', 'fits_published'), { id: 'c', code: 'locked' }, published('d', '09:00')),
    ).toEqual(['ad: already_published published 09:00', 'b: already_published fits_published published 09:00', 'c: locked']);
  });

  test('say a time only if it is that of all', () => {
    expect(grouped(published('a', '09:00'), published('b', '12:00'))).toEqual(['ab: already_published published']);
    expect(grouped(published('a', '09:00'), published('b', null))).toEqual(['ab: already_published published']);
  });
});

test('how many attempts events are given is said where all are given as many', () => {
  expect(attemptsOf([{ maxAttempts: 5 }, { maxAttempts: 5 }])).toBe(5);
  expect(attemptsOf([{ maxAttempts: 5 }, { maxAttempts: 3 }])).toBeNull();
  expect(attemptsOf([{ maxAttempts: 5 }, {}])).toBeNull();
  expect(attemptsOf([{ maxAttempts: null }])).toBeNull();
  expect(attemptsOf([])).toBeNull();
});
