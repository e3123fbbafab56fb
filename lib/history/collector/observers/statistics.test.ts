import { describe, expect, it } from 'vitest';
import { ALL_TYPES, HOW } from '@/lib/rollup/cell';
import { countChanges } from './statistics';

const START = Date.UTC(2026, 0, 1);
const counts = (inserted: number, updated: number) => ({ inserted, updated, deleted: 0 });

describe('changes that the database counts', () => {
  it('are events, two updates each where they are claimed first, halves carried on', () => {
    const first = countChanges(null, START, counts(1_000, 500), 2);
    expect(first.additions.size).toBe(0);
    const second = countChanges(first.memory, START + 5_000, counts(1_010, 505), 2);
    const third = countChanges(second.memory, START + 10_000, counts(1_010, 508), 2);
    const cells = [second, third].map(({ additions }) => additions.get(START / 60_000)?.get(ALL_TYPES));
    expect(cells).toMatchObject([
      { created: 10, published: 2, how: HOW.statistics },
      { created: 0, published: 2 },
    ]);
  });

  it('are creations alone where a reader of the log publishes: a row that is changed is not sent by it', () => {
    const first = countChanges(null, START, counts(1_000, 500), Infinity);
    const second = countChanges(first.memory, START + 5_000, counts(1_010, 700), Infinity);
    const third = countChanges(second.memory, START + 10_000, counts(1_010, 900), Infinity);
    expect(second.additions.get(START / 60_000)?.get(ALL_TYPES)).toMatchObject({ created: 10, published: 0 });
    expect(third.additions.size).toBe(0);
  });

  it('are nothing across a reset, nor after a gap', () => {
    const { memory } = countChanges(null, START, counts(1_000, 500), 1);
    expect(countChanges(memory, START + 5_000, counts(3, 600), 1).additions.size).toBe(0);
    expect(countChanges(memory, START + 5_000_000, counts(2_000, 600), 1).additions.size).toBe(0);
  });
});
