import { describe, expect, it } from 'vitest';
import { conditionSchema, isParsedKind } from './condition';

const problemOf = (written: unknown): string | undefined => conditionSchema.safeParse(written).error?.issues[0]?.message;

describe('a condition', () => {
  it('is parsed to the one test it holds, at every depth', () => {
    const written = {
      any: [{ column: 'status', in: ['NEW'], ignoreCase: true }, { not: { column: 'tries', atLeast: { parameter: 'maxAttempts' } } }],
    };
    expect(conditionSchema.parse(written)).toEqual({
      kind: 'any',
      any: [
        { kind: 'in', column: 'status', in: ['NEW'], ignoreCase: true },
        { kind: 'not', not: { kind: 'atLeast', column: 'tries', atLeast: { parameter: 'maxAttempts' } } },
      ],
    });
  });

  it('says which test is missing, or one too many', () => {
    expect(problemOf({ column: 'a' })).toMatch(/^write one test of the column: equals, in, isNull, .*, olderThan$/);
    expect(problemOf({ always: true, cursor: 'passed' })).toBe(
      'write one test: column with a test of it, or one of always, exists, cursor, all, any, not',
    );
    expect(problemOf({ isNull: true })).toBe('name the column');
    expect(problemOf({ column: 'a', always: true })).toBe('always names no column: leave it out');
    expect(problemOf({ column: 'a', isNull: true, ignoreCase: true })).toBe('ignoreCase goes with equals or in');
  });

  it('has a kind that can be told from a column of that name', () => {
    expect(isParsedKind('kind', { kind: 'equals', column: 'kind', equals: 'a' })).toBe(true);
    expect(isParsedKind('kind', { kind: { value: 'mail' }, value: { value: 1 } })).toBe(false);
    expect(isParsedKind('kind', { kind: 'topic', id: 'id' })).toBe(false);
  });
});
