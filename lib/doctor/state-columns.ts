import { leavesIn, valuesOf } from '@/lib/shape/reason';
import { isLeaf } from '@/lib/shape/schema/condition';
import type { Shape } from '@/lib/shape/shape';

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
