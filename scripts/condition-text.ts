import { isLeaf, visit, visitLeaf, type Condition, type Leaf, type Operand, type Scalar } from '@/lib/shape/schema/condition';

/** A condition in words for the documentation, columns as code: `` `attempts` above 0 ``. */
export function conditionText(condition: Condition): string {
  return visit(condition, {
    leaf: (test) => `\`${test.column}\` ${leafText(test)}`,
    all: ({ all }) => all.map(inner).join(' and '),
    any: ({ any }) => any.map(inner).join(' or '),
    not: ({ not }) => negated(not),
    always: () => 'every row',
    exists: ({ exists: { companion, when } }) => `a row in \`${companion}\`${when === undefined ? '' : ` with ${inner(when)}`}`,
    cursor: ({ cursor }) => (cursor === 'passed' ? 'behind every cursor' : 'taken by every cursor'),
  });
}

function negated(condition: Condition): string {
  if (condition.kind === 'exists') return `no ${conditionText(condition).slice('a '.length)}`;
  const text = inner(condition);
  return isLeaf(condition) && text.includes('` is ') ? text.replace('` is ', '` is not ') : `not ${text}`;
}

/** Parts of more than one test stand in brackets. */
function inner(condition: Condition): string {
  const text = conditionText(condition);
  const parts = condition.kind === 'all' ? condition.all : condition.kind === 'any' ? condition.any : [];
  return parts.length > 1 ? `(${text})` : text;
}

function leafText(test: Leaf): string {
  return visitLeaf<string, Leaf['kind']>(test, {
    equals: ({ equals }) => `is ${value(equals)}`,
    in: ({ in: values }) => `is ${values.map(value).join(' or ')}`,
    isNull: ({ isNull }) => (isNull ? 'is NULL' : 'is not NULL'),
    isTrue: ({ isTrue }) => (isTrue ? 'is true' : 'is false'),
    isEmpty: ({ isEmpty }) => (isEmpty ? 'is empty' : 'is not empty'),
    past: () => 'is past',
    future: () => 'is in the future',
    olderThan: ({ olderThan }) => `is older than ${operand(olderThan)}${typeof olderThan === 'number' ? ' s' : ''}`,
    above: ({ above }) => `above ${operand(above)}`,
    below: ({ below }) => `below ${operand(below)}`,
    atLeast: ({ atLeast }) => `at least ${operand(atLeast)}`,
    atMost: ({ atMost }) => `at most ${operand(atMost)}`,
  });
}

function operand(of: Operand): string {
  if (typeof of === 'number') return String(of);
  return 'column' in of ? `\`${of.column}\`` : `\`${of.parameter}\``;
}

function value(of: Scalar): string {
  return typeof of === 'string' ? `\`${of}\`` : String(of);
}
