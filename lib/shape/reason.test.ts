import fc from 'fast-check';
import { expect, it } from 'vitest';
import { conditionSchema, type Condition, type WrittenCondition } from './schema/condition';
import * as reason from './reason';

type Row = Record<string, string | number | null>;
const value = fc.constantFrom('a', 'b', 1, 2);
const leaf: fc.Arbitrary<WrittenCondition> = fc.oneof(
  fc.record({ column: fc.constantFrom('x', 'y'), equals: value }),
  fc.record({ column: fc.constantFrom('x', 'y'), isNull: fc.boolean() }),
  fc.record({ column: fc.constantFrom('x', 'y'), in: fc.array(value, { minLength: 1, maxLength: 3 }) }),
  fc.record({ column: fc.constantFrom('x', 'y'), above: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ column: fc.constantFrom('x', 'y'), atLeast: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ column: fc.constantFrom('x', 'y'), below: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ column: fc.constantFrom('x', 'y'), atMost: fc.integer({ min: 0, max: 3 }) }),
);
const condition: fc.Arbitrary<WrittenCondition> = fc.letrec<{ node: WrittenCondition }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.record({ all: fc.array(tie('node'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ any: fc.array(tie('node'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ not: tie('node') }),
  ),
})).node;
const parsed = (written: WrittenCondition): Condition => conditionSchema.parse(written);
const isWithin = (inner: WrittenCondition, outer: WrittenCondition): boolean => reason.isWithin(parsed(inner), parsed(outer));
const disjoint = (left: WrittenCondition, right: WrittenCondition): boolean => reason.disjoint(parsed(left), parsed(right));
const contradiction = (written: WrittenCondition): string | null => reason.contradiction(parsed(written));

const holds = (test: WrittenCondition, row: Row): boolean => {
  if ('all' in test) return test.all.every((part) => holds(part, row));
  if ('any' in test) return test.any.some((part) => holds(part, row));
  if ('not' in test) return !holds(test.not, row);
  if (!('column' in test)) throw new Error('no test of a column');
  const found = row[test.column] ?? null;
  if ('isNull' in test) return (found === null) === test.isNull;
  if (found === null) return false;
  if ('in' in test) return test.in.includes(found);
  const [size] = Object.entries(SIZES).flatMap(([word, compare]) => {
    const operand: unknown = Object.entries(test).find(([key]) => key === word)?.[1];
    return typeof operand === 'number' ? [typeof found === 'number' && compare(found, operand)] : [];
  });
  return size ?? ('equals' in test && test.equals === found);
};

const SIZES = {
  above: (found: number, than: number) => found > than,
  atLeast: (found: number, than: number) => found >= than,
  below: (found: number, than: number) => found < than,
  atMost: (found: number, than: number) => found <= than,
};

it('never calls two conditions disjoint that one row satisfies', () => {
  const cell = fc.oneof(value, fc.constant(null));
  fc.assert(
    fc.property(condition, condition, fc.record({ x: cell, y: cell }), (left, right, row) => {
      if (disjoint(left, right)) expect(holds(left, row) && holds(right, row)).toBe(false);
    }),
  );
});

it('never says that one is within another, or impossible, of which a row tells otherwise', () => {
  const cell = fc.oneof(value, fc.constant(null));
  fc.assert(
    fc.property(condition, condition, fc.record({ x: cell, y: cell }), (inner, outer, row) => {
      if (isWithin(inner, outer) && holds(inner, row)) expect(holds(outer, row)).toBe(true);
      if (contradiction(inner) !== null) expect(holds(inner, row)).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

it('sees the rule that takes all rows of another', () => {
  expect(isWithin({ column: 'status', equals: 1 }, { column: 'status', in: [1, 2] })).toBe(true);
  expect(
    isWithin(
      {
        all: [
          { column: 'sent', isTrue: true },
          { column: 'tries', above: 3 },
        ],
      },
      { column: 'tries', isNull: false },
    ),
  ).toBe(true);
  expect(isWithin({ column: 'status', in: [1, 3] }, { column: 'status', in: [1, 2] })).toBe(false);
  expect(isWithin({ column: 'status', equals: 'a' }, { column: 'status', equals: 'A', ignoreCase: true })).toBe(false);
  expect(contradiction({ all: [{ column: 'status', equals: 1 }, { all: [{ column: 'status', in: [2, 3] }] }] })).toBe('status');
});

it('sees which numbers lie within others, and which nowhere', () => {
  expect(isWithin({ column: 'tries', above: 9 }, { column: 'tries', above: 0 })).toBe(true);
  expect(isWithin({ column: 'tries', above: 0 }, { column: 'tries', atLeast: 0 })).toBe(true);
  expect(isWithin({ column: 'tries', atLeast: 0 }, { column: 'tries', above: 0 })).toBe(false);
  expect(isWithin({ column: 'tries', in: [3, 5] }, { column: 'tries', below: 6 })).toBe(true);
  expect(isWithin({ column: 'tries', in: [3, 6] }, { column: 'tries', below: 6 })).toBe(false);
  expect(isWithin({ column: 'tries', above: { parameter: 'maxAttempts' } }, { column: 'tries', above: 0 })).toBe(false);
  const both = (...all: WrittenCondition[]): string | null => contradiction({ all });
  expect(both({ column: 'tries', above: 5 }, { column: 'tries', atMost: 5 })).toBe('tries');
  expect(both({ column: 'tries', atLeast: 5 }, { column: 'tries', atMost: 5 })).toBeNull();
  expect(both({ column: 'tries', equals: 3 }, { column: 'tries', above: 3 })).toBe('tries');
});

it('sees what the shapes of record rely on', () => {
  expect(disjoint({ column: 'status', equals: 'a' }, { column: 'status', equals: 'b' })).toBe(true);
  expect(disjoint({ column: 'at', isNull: true }, { all: [{ column: 'at', isNull: false }] })).toBe(true);
  expect(disjoint({ column: 'status', equals: 'a' }, { column: 'other', equals: 'b' })).toBe(false);
});
