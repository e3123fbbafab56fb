/** Relations between single-column tests: which exclude each other, and which imply another. */
import type { LiveState } from '@/lib/shared/states';
import { isLeaf, visit, visitLeaf, type Condition, type Leaf, type LeafVisitor, type Operand, type Scalar } from './schema/condition';
import type { Shape } from './shape';

export const notNull = (column: string): Leaf<'isNull'> => ({ kind: 'isNull', column, isNull: false });

const NO_LEAVES = { always: (): Leaf[] => [], exists: (): Leaf[] => [], cursor: (): Leaf[] => [] };

/** All single-column tests in a condition, however they are joined. */
export function leavesIn(condition: Condition): Leaf[] {
  return visit<Leaf[]>(condition, {
    leaf: (test) => [test],
    all: ({ all }) => all.flatMap(leavesIn),
    any: ({ any }) => any.flatMap(leavesIn),
    not: ({ not }) => leavesIn(not),
    ...NO_LEAVES,
  });
}

/** The single-column tests that every row matching the condition also passes. */
export function required(condition: Condition): Leaf[] {
  return visit<Leaf[]>(condition, {
    leaf: (test) => [test],
    all: ({ all }) => all.flatMap(required),
    any: ({ any }) => (any.length === 1 ? any.flatMap(required) : []),
    not: () => [],
    ...NO_LEAVES,
  });
}

/** True if no row can satisfy both, judged by single columns. */
export const disjoint = (left: Condition, right: Condition): boolean =>
  required(left).some((a) => required(right).some((b) => a.column === b.column && contradict(a, b)));

/** The column on which a condition has two tests that exclude each other; null if there is none. */
export function contradiction(condition: Condition): string | null {
  const leaves = required(condition);
  return leaves.find((a, index) => leaves.slice(index + 1).some((b) => a.column === b.column && contradict(a, b)))?.column ?? null;
}

/** True if every row that satisfies `inner` satisfies the single test `outer`, judged by single columns. */
export const isWithin = (inner: Condition, outer: Condition): boolean =>
  isLeaf(outer) && required(inner).some((leaf) => leaf.column === outer.column && implies(leaf, outer));

function implies(inner: Leaf, outer: Leaf): boolean {
  if (JSON.stringify(inner) === JSON.stringify(outer)) return true;
  // Any other test of a column fails for NULL.
  if (outer.kind === 'isNull') return !outer.isNull && inner.kind !== 'isNull';
  const [few, many] = [letThrough(inner), letThrough(outer)];
  if (few.values !== null && many.values !== null) return few.values.every((value) => many.values?.includes(value));
  const wide = many.range;
  return few.range !== null && wide !== null && many.values === null && few.range.every((end) => inRange(end, wide));
}

function contradict(a: Leaf, b: Leaf): boolean {
  if (a.kind === 'isNull' && a.isNull) return !(b.kind === 'isNull' && b.isNull);
  if (b.kind === 'isNull' && b.isNull) return true;
  if (a.kind === 'isTrue' && b.kind === 'isTrue') return a.isTrue !== b.isTrue;
  const [one, other] = [letThrough(a), letThrough(b)];
  if (one.values !== null && other.values !== null) return !one.values.some((value) => other.values?.includes(value));
  return one.range !== null && other.range !== null && !meet(one.range, other.range);
}

/** The values of a test that accepts exactly those; null for any other test. */
export const valuesOf = (test: Leaf): Scalar[] | null => letThrough(test).values;

/** An end of a range of numbers; `inside` if the number itself is in the range. */
interface End {
  at: number;
  inside: boolean;
}
type Range = [lower: End, upper: End];

const end = (at: number, inside: boolean): End => ({ at, inside });
const ENDLESS: Range = [end(-Infinity, false), end(Infinity, false)];

/** What a test accepts, if it can be listed: values, and a range of numbers. */
interface LetThrough {
  values: Scalar[] | null;
  range: Range | null;
}

const unlisted = (): LetThrough => ({ values: null, range: null });

function listed(values: Scalar[], ignoreCase: boolean | undefined): LetThrough {
  if (ignoreCase === true) return unlisted();
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length < values.length) return { values, range: null };
  return { values, range: [end(Math.min(...numbers), true), end(Math.max(...numbers), true)] };
}

function ranged(operand: Operand, range: (at: number) => Range): LetThrough {
  return { values: null, range: typeof operand === 'number' ? range(operand) : null };
}

const LET_THROUGH: LeafVisitor<LetThrough> = {
  equals: ({ equals, ignoreCase }) => listed([equals], ignoreCase),
  in: ({ in: values, ignoreCase }) => listed(values, ignoreCase),
  above: ({ above }) => ranged(above, (at) => [end(at, false), ENDLESS[1]]),
  atLeast: ({ atLeast }) => ranged(atLeast, (at) => [end(at, true), ENDLESS[1]]),
  below: ({ below }) => ranged(below, (at) => [ENDLESS[0], end(at, false)]),
  atMost: ({ atMost }) => ranged(atMost, (at) => [ENDLESS[0], end(at, true)]),
  isNull: unlisted,
  isTrue: unlisted,
  isEmpty: unlisted,
  past: unlisted,
  future: unlisted,
  olderThan: unlisted,
};

const letThrough = (test: Leaf): LetThrough => visitLeaf(test, LET_THROUGH);

/** Whether a range that ends here stays within the other one at this end. */
const inRange = ({ at, inside }: End, [lower, upper]: Range): boolean =>
  (at > lower.at || (at === lower.at && (lower.inside || !inside))) && (at < upper.at || (at === upper.at && (upper.inside || !inside)));

const meet = ([low, high]: Range, [lower, upper]: Range): boolean => before(low, upper) && before(lower, high);

const before = (from: End, to: End): boolean => from.at < to.at || (from.at === to.at && from.inside && to.inside);

type Rules = Pick<Shape, 'states' | 'rows'>;

/** Tests that all rows in these states pass, whichever rule gave the state. */
export function commonTests(shape: Rules, states: readonly LiveState[]): Leaf[] {
  const filter = shape.rows === undefined ? [] : required(shape.rows);
  const [first, ...others] = shape.states.filter((rule) => states.includes(rule.state)).map((rule) => required(rule.when));
  const common = (first ?? []).filter((leaf) =>
    others.every((leaves) => leaves.some((other) => JSON.stringify(other) === JSON.stringify(leaf))),
  );
  return [...common, ...filter];
}

/** True if every row gets a state: a rule matches all rows, or two rules test a column for NULL and for not NULL. */
export function coversEveryRow(shape: Rules): boolean {
  if (shape.states.some(({ when }) => when.kind === 'always')) return true;
  const nullTests = shape.states.flatMap(({ when }) => (when.kind === 'isNull' ? [when] : []));
  return nullTests.some((a) => a.isNull && nullTests.some((b) => !b.isNull && b.column === a.column));
}

/** Columns the states depend on, in the order the rules name them. */
export const stateColumns = (shape: Shape): string[] => [
  ...new Set(shape.states.flatMap(({ when }) => leavesIn(when).map(({ column }) => column))),
];

/** Columns compared with values in a rule, with those values: status words, not times. */
export function statusColumns(shape: Shape): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const test of shape.states.flatMap(({ when }) => leavesIn(when))) {
    const values = test.kind === 'equals' ? [test.equals] : test.kind === 'in' ? test.in : [];
    if (values.length > 0) named.set(test.column, new Set([...(named.get(test.column) ?? []), ...values.map(String)]));
  }
  return named;
}

/** The only column that decides every state, with the values in rules; null if other columns take part. */
export function decidingColumn(shape: Shape): { column: string; named: Set<string> } | null {
  const [column, ...others] = stateColumns(shape);
  const named = statusColumns(shape).get(column ?? '');
  if (shape.rows !== undefined || column === undefined || others.length > 0 || named === undefined) return null;
  return shape.states.every(({ when }) => isLeaf(when) && valuesOf(when) !== null) ? { column, named } : null;
}
