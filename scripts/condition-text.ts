import type { Condition } from '@/lib/shape/schema/condition';

/** A condition in words for the documentation, columns as code: `` `attempts` above 0 ``. */
export function conditionText(condition: Condition): string {
  if ('all' in condition) return condition.all.map((part) => inner(part)).join(' and ');
  if ('any' in condition) return condition.any.map((part) => inner(part)).join(' or ');
  if ('not' in condition) return negated(condition.not);
  if ('always' in condition) return 'every row';
  if ('exists' in condition) {
    const { companion, when } = condition.exists;
    return `a row in \`${companion}\`${when === undefined ? '' : ` with ${inner(when)}`}`;
  }
  if ('cursor' in condition) return condition.cursor === 'passed' ? 'behind every cursor' : 'taken by every cursor';
  return `\`${condition.column}\` ${test(condition)}`;
}

function negated(condition: Condition): string {
  if ('exists' in condition) return `no ${conditionText(condition).slice('a '.length)}`;
  const text = inner(condition);
  return 'column' in condition && text.includes('` is ') ? text.replace('` is ', '` is not ') : `not ${text}`;
}

/** Parts of more than one test stand in brackets. */
function inner(condition: Condition): string {
  const text = conditionText(condition);
  const parts = 'all' in condition ? condition.all : 'any' in condition ? condition.any : [];
  return parts.length > 1 ? `(${text})` : text;
}

function test(condition: Extract<Condition, { column: string }>): string {
  if ('equals' in condition) return `is ${value(condition.equals)}`;
  if ('in' in condition) return `is ${condition.in.map(value).join(' or ')}`;
  if ('isNull' in condition) return condition.isNull ? 'is NULL' : 'is not NULL';
  if ('isTrue' in condition) return condition.isTrue ? 'is true' : 'is false';
  if ('isEmpty' in condition) return condition.isEmpty ? 'is empty' : 'is not empty';
  if ('past' in condition) return 'is past';
  if ('future' in condition) return 'is in the future';
  if ('olderThan' in condition)
    return `is older than ${operand(condition.olderThan)}${typeof condition.olderThan === 'number' ? ' s' : ''}`;
  if ('above' in condition) return `above ${operand(condition.above)}`;
  if ('below' in condition) return `below ${operand(condition.below)}`;
  if ('atLeast' in condition) return `at least ${operand(condition.atLeast)}`;
  return `at most ${operand(condition.atMost)}`;
}

function operand(of: number | { column: string } | { parameter: string }): string {
  if (typeof of === 'number') return String(of);
  return 'column' in of ? `\`${of.column}\`` : `\`${of.parameter}\``;
}

function value(of: string | number | boolean): string {
  return typeof of === 'string' ? `\`${of}\`` : String(of);
}
