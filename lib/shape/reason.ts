/** What single tests say of each other: which cannot hold together, and which holds whenever another does. */
import { comparisonOf, type Condition } from './schema/condition';

/** A test on one column. */
export type Leaf = Extract<Condition, { column: string }>;

/** The single-column tests every row that satisfies the condition satisfies too. */
export function required(condition: Condition): Leaf[] {
  if ('all' in condition) return condition.all.flatMap(required);
  if ('any' in condition) return condition.any.length === 1 ? condition.any.flatMap(required) : [];
  return 'column' in condition ? [condition] : [];
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
export function within(inner: Condition, outer: Condition): boolean {
  if (!('column' in outer)) return false;
  return required(inner).some((leaf) => leaf.column === outer.column && implies(leaf, outer));
}

function implies(inner: Leaf, outer: Leaf): boolean {
  if (JSON.stringify(inner) === JSON.stringify(outer)) return true;
  // Whatever else is asked of a column, NULL does not pass.
  if ('isNull' in outer) return !outer.isNull && !('isNull' in inner);
  const [few, many] = [values(inner), values(outer)];
  if (few !== null && many !== null) return few.every((value) => many.includes(value));
  const [narrow, wide] = [rangeOf(inner), rangeOf(outer)];
  return narrow !== null && wide !== null && many === null && narrow.every((end) => inRange(end, wide));
}

function contradict(a: Leaf, b: Leaf): boolean {
  if ('isNull' in a && a.isNull) return !('isNull' in b && b.isNull);
  if ('isNull' in b && b.isNull) return true;
  if ('isTrue' in a && 'isTrue' in b) return a.isTrue !== b.isTrue;
  const left = values(a);
  const right = values(b);
  if (left !== null && right !== null) return !left.some((value) => right.includes(value));
  const [one, other] = [rangeOf(a), rangeOf(b)];
  return one !== null && other !== null && !meet(one, other);
}

function values(leaf: Leaf): (string | number | boolean)[] | null {
  if (('equals' in leaf || 'in' in leaf) && leaf.ignoreCase === true) return null;
  if ('equals' in leaf) return [leaf.equals];
  return 'in' in leaf ? leaf.in : null;
}

/** An end of a range of numbers; `inside` where the number itself belongs to it. */
interface End {
  at: number;
  inside: boolean;
}
type Range = [lower: End, upper: End];

/** The numbers a test lets through, from the least to the greatest; null where it is about anything else. */
function rangeOf(leaf: Leaf): Range | null {
  const listed = values(leaf);
  if (listed !== null) {
    const numbers = listed.filter((value) => typeof value === 'number');
    if (numbers.length < listed.length) return null;
    return [
      { at: Math.min(...numbers), inside: true },
      { at: Math.max(...numbers), inside: true },
    ];
  }
  const size = comparisonOf(leaf);
  if (size === null || typeof size.operand !== 'number') return null;
  const end: End = { at: size.operand, inside: size.word === 'atLeast' || size.word === 'atMost' };
  return size.word === 'above' || size.word === 'atLeast' ? [end, ENDLESS[1]] : [ENDLESS[0], end];
}

const ENDLESS: Range = [
  { at: -Infinity, inside: false },
  { at: Infinity, inside: false },
];

/** True when a range that ends here does not leave the other by it. */
const inRange = ({ at, inside }: End, [lower, upper]: Range): boolean =>
  (at > lower.at || (at === lower.at && (lower.inside || !inside))) && (at < upper.at || (at === upper.at && (upper.inside || !inside)));

const meet = ([low, high]: Range, [lower, upper]: Range): boolean => before(low, upper) && before(lower, high);

/** True when some number lies from the one end to the other. */
const before = (from: End, to: End): boolean => from.at < to.at || (from.at === to.at && from.inside && to.inside);
