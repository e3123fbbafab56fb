/** What single tests say of each other: which cannot hold together, and which holds whenever another does. */
import type { Condition } from './condition';

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
  return few !== null && many !== null && few.every((value) => many.includes(value));
}

function contradict(a: Leaf, b: Leaf): boolean {
  if ('isNull' in a && a.isNull) return !('isNull' in b && b.isNull);
  if ('isNull' in b && b.isNull) return true;
  if ('isTrue' in a && 'isTrue' in b) return a.isTrue !== b.isTrue;
  const left = values(a);
  const right = values(b);
  return left !== null && right !== null && !left.some((value) => right.includes(value));
}

function values(leaf: Leaf): (string | number | boolean)[] | null {
  if (('equals' in leaf || 'in' in leaf) && leaf.ignoreCase === true) return null;
  if ('equals' in leaf) return [leaf.equals];
  return 'in' in leaf ? leaf.in : null;
}
