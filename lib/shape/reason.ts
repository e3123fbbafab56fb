/** What single tests say of each other: which cannot hold together, and which holds whenever another does. */
import type { LiveState } from '@/lib/shared/states';
import { isLeaf, visit, visitLeaf, type Condition, type Leaf, type LeafVisitor, type Operand, type Scalar } from './schema/condition';
import type { Shape } from './shape';

export const notNull = (column: string): Leaf<'isNull'> => ({ kind: 'isNull', column, isNull: false });

const NO_LEAVES = { always: (): Leaf[] => [], exists: (): Leaf[] => [], cursor: (): Leaf[] => [] };

/** The tests on single columns that a condition is made of, whatever joins them. */
export function leavesIn(condition: Condition): Leaf[] {
  return visit<Leaf[]>(condition, {
    leaf: (test) => [test],
    all: ({ all }) => all.flatMap(leavesIn),
    any: ({ any }) => any.flatMap(leavesIn),
    not: ({ not }) => leavesIn(not),
    ...NO_LEAVES,
  });
}

/** The single-column tests every row that satisfies the condition satisfies too. */
export function required(condition: Condition): Leaf[] {
  return visit<Leaf[]>(condition, {
    leaf: (test) => [test],
    all: ({ all }) => all.flatMap(required),
    any: ({ any }) => (any.length === 1 ? any.flatMap(required) : []),
    not: () => [],
    ...NO_LEAVES,
  });
}

/** True when no row can satisfy both, as far as single columns tell. */
export function disjoint(left: Condition, right: Condition): boolean {
  return required(left).some((a) => required(right).some((b) => a.column === b.column && contradict(a, b)));
}

/** The column of which a condition asks two things that exclude each other; null when there is none. */
export function contradiction(condition: Condition): string | null {
  const leaves = required(condition);
  const found = leaves.find((a, index) => leaves.slice(index + 1).some((b) => a.column === b.column && contradict(a, b)));
  return found?.column ?? null;
}

/** True when every row that satisfies `inner` satisfies the single test `outer`, as far as single columns tell. */
export function isWithin(inner: Condition, outer: Condition): boolean {
  if (!isLeaf(outer)) return false;
  return required(inner).some((leaf) => leaf.column === outer.column && implies(leaf, outer));
}

function implies(inner: Leaf, outer: Leaf): boolean {
  if (JSON.stringify(inner) === JSON.stringify(outer)) return true;
  // Whatever else is asked of a column, NULL does not pass.
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

/** The values a test names, when it lets exactly those through; null for any other test. */
export const valuesOf = (test: Leaf): Scalar[] | null => letThrough(test).values;

/** An end of a range of numbers; `inside` where the number itself belongs to it. */
interface End {
  at: number;
  inside: boolean;
}
type Range = [lower: End, upper: End];

const ENDLESS: Range = [
  { at: -Infinity, inside: false },
  { at: Infinity, inside: false },
];

/** What a test lets through, as far as that can be listed: values, and numbers from the least to the greatest. */
interface LetThrough {
  values: Scalar[] | null;
  range: Range | null;
}

const unlisted = (): LetThrough => ({ values: null, range: null });

function listed(values: Scalar[], ignoreCase: boolean | undefined): LetThrough {
  if (ignoreCase === true) return unlisted();
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length < values.length) return { values, range: null };
  const ends: Range = [
    { at: Math.min(...numbers), inside: true },
    { at: Math.max(...numbers), inside: true },
  ];
  return { values, range: ends };
}

function ranged(operand: Operand, range: (at: number) => Range): LetThrough {
  return { values: null, range: typeof operand === 'number' ? range(operand) : null };
}

const LET_THROUGH: LeafVisitor<LetThrough> = {
  equals: ({ equals, ignoreCase }) => listed([equals], ignoreCase),
  in: ({ in: values, ignoreCase }) => listed(values, ignoreCase),
  above: ({ above }) => ranged(above, (at) => [{ at, inside: false }, ENDLESS[1]]),
  atLeast: ({ atLeast }) => ranged(atLeast, (at) => [{ at, inside: true }, ENDLESS[1]]),
  below: ({ below }) => ranged(below, (at) => [ENDLESS[0], { at, inside: false }]),
  atMost: ({ atMost }) => ranged(atMost, (at) => [ENDLESS[0], { at, inside: true }]),
  isNull: unlisted,
  isTrue: unlisted,
  isEmpty: unlisted,
  past: unlisted,
  future: unlisted,
  olderThan: unlisted,
};

const letThrough = (test: Leaf): LetThrough => visitLeaf(test, LET_THROUGH);

/** True when a range that ends here does not leave the other by it. */
const inRange = ({ at, inside }: End, [lower, upper]: Range): boolean =>
  (at > lower.at || (at === lower.at && (lower.inside || !inside))) && (at < upper.at || (at === upper.at && (upper.inside || !inside)));

const meet = ([low, high]: Range, [lower, upper]: Range): boolean => before(low, upper) && before(lower, high);

const before = (from: End, to: End): boolean => from.at < to.at || (from.at === to.at && from.inside && to.inside);

type Rules = Pick<Shape, 'states' | 'rows'>;

/** Tests that all rows of these states pass, whichever rule gave the state. */
export function commonTests(shape: Rules, states: readonly LiveState[]): Leaf[] {
  const filter = shape.rows === undefined ? [] : required(shape.rows);
  const [first, ...others] = shape.states.filter((rule) => states.includes(rule.state)).map((rule) => required(rule.when));
  const common = (first ?? []).filter((leaf) =>
    others.every((leaves) => leaves.some((other) => JSON.stringify(other) === JSON.stringify(leaf))),
  );
  return [...common, ...filter];
}

/** True when every row is in a state: a rule is for all of them, or one of two holds because a column is NULL or is not. */
export function coversEveryRow(shape: Rules): boolean {
  if (shape.states.some(({ when }) => when.kind === 'always')) return true;
  const nullTests = shape.states.flatMap(({ when }) => (when.kind === 'isNull' ? [when] : []));
  return nullTests.some((a) => a.isNull && nullTests.some((b) => !b.isNull && b.column === a.column));
}

/** Columns whose values decide the state of a row, in the order the rules name them. */
export function stateColumns(shape: Shape): string[] {
  return [...new Set(shape.states.flatMap(({ when }) => leavesIn(when).map(({ column }) => column)))];
}

/** Columns that are compared with values a rule names: status words, not times that are set or not. */
export function statusColumns(shape: Shape): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const test of shape.states.flatMap(({ when }) => leavesIn(when))) {
    const values = test.kind === 'equals' ? [test.equals] : test.kind === 'in' ? test.in : [];
    if (values.length > 0) named.set(test.column, new Set([...(named.get(test.column) ?? []), ...values.map(String)]));
  }
  return named;
}

/** The one column whose value alone gives every state, and the values that rules name; null where other columns take part. */
export function decidingColumn(shape: Shape): { column: string; named: Set<string> } | null {
  const [column, ...others] = stateColumns(shape);
  const named = statusColumns(shape).get(column ?? '');
  if (shape.rows !== undefined || column === undefined || others.length > 0 || named === undefined) return null;
  return shape.states.every(({ when }) => isLeaf(when) && valuesOf(when) !== null) ? { column, named } : null;
}
