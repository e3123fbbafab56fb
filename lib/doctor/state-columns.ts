import type { Condition, Shape } from '@/lib/outbox/shape';

/** Columns whose values decide the state of a row, in the order the rules name them. */
export function stateColumns(shape: Shape): string[] {
  return [...new Set(shape.states.flatMap(({ when }) => columnsOf(when)))];
}

/** Columns that are compared with values a rule names: status words, not times that are set or not. */
export function statusColumns(shape: Shape): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  const visit = (condition: Condition): void => {
    if ('all' in condition) condition.all.forEach(visit);
    else if ('any' in condition) condition.any.forEach(visit);
    else if ('not' in condition) visit(condition.not);
    else if ('column' in condition) {
      const values = 'equals' in condition ? [condition.equals] : 'in' in condition ? condition.in : [];
      const known = named.get(condition.column) ?? new Set<string>();
      for (const value of values) known.add(String(value));
      if (values.length > 0) named.set(condition.column, known);
    }
  };
  for (const { when } of shape.states) visit(when);
  return named;
}

function columnsOf(condition: Condition): string[] {
  if ('all' in condition) return condition.all.flatMap(columnsOf);
  if ('any' in condition) return condition.any.flatMap(columnsOf);
  if ('not' in condition) return columnsOf(condition.not);
  return 'column' in condition ? [condition.column] : [];
}
