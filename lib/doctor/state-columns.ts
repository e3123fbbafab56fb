import type { Condition, Shape } from '@/lib/shape/shape';

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

/**
 * The one column whose value alone gives every state, and the values that rules name; null where there is none: other columns
 * tell whether a row is an event at all, or a rule means more spellings than it names.
 */
export function decidingColumn(shape: Shape): { column: string; named: Set<string> } | null {
  const [column, ...others] = stateColumns(shape);
  const named = statusColumns(shape).get(column ?? '');
  if (shape.rows !== undefined || column === undefined || others.length > 0 || named === undefined) return null;
  return shape.states.every(({ when }) => ('equals' in when || 'in' in when) && when.ignoreCase !== true) ? { column, named } : null;
}

function columnsOf(condition: Condition): string[] {
  if ('all' in condition) return condition.all.flatMap(columnsOf);
  if ('any' in condition) return condition.any.flatMap(columnsOf);
  if ('not' in condition) return columnsOf(condition.not);
  return 'column' in condition ? [condition.column] : [];
}
