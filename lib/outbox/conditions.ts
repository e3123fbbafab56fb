import { sql, type RawBuilder } from 'kysely';
import type { Fragments } from '@/lib/database/engine';
import type { LiveState } from '@/lib/shared/states';
import type { Condition, Shape } from './shape';

/** Compiles a condition over the columns of `alias`; NULL compares false, as the shape language says. */
export function compileCondition(condition: Condition, alias: string, fragments: Fragments): RawBuilder<boolean> {
  if ('all' in condition) return joined(condition.all, 'and', alias, fragments);
  if ('any' in condition) return joined(condition.any, 'or', alias, fragments);
  if ('not' in condition) return fragments.notTrue(compileCondition(condition.not, alias, fragments));
  if ('always' in condition) return sql`true`;
  if (!('column' in condition)) throw new Error(`conditions cannot say ${Object.keys(condition).join(', ')} yet`);
  const column = sql.id(alias, condition.column);
  if ('isNull' in condition) return condition.isNull ? sql`${column} is null` : sql`${column} is not null`;
  if ('above' in condition && typeof condition.above === 'number') return sql`${column} > ${sql.lit(condition.above)}`;
  // Literals, not parameters: the planner must see that the predicate implies a partial index.
  if ('in' in condition) return fragments.isLiteral(column, condition.in, null);
  if ('equals' in condition) return fragments.isLiteral(column, [condition.equals], null);
  throw new Error(`conditions cannot say ${Object.keys(condition).join(', ')} yet`);
}

function joined(conditions: Condition[], word: 'and' | 'or', alias: string, fragments: Fragments): RawBuilder<boolean> {
  const parts = conditions.map((part) => compileCondition(part, alias, fragments));
  return sql`(${sql.join(parts, sql.raw(` ${word} `))})`;
}

/** The state of a row of the outbox table: first match wins, otherwise `unmapped`. */
export function stateExpression(shape: Shape, alias: string, fragments: Fragments): RawBuilder<string> {
  const cases = shape.states.map(({ state, when }) => sql`when ${compileCondition(when, alias, fragments)} then ${sql.lit(state)}`);
  return sql`case ${sql.join(cases, sql.raw(' '))} else 'unmapped' end`;
}

/**
 * The rows of the outbox table that are in one of these states. Earlier rules are excluded only where they could
 * match too, so that a predicate stays as plain as the index it should be served by.
 * null when no rule gives any of the states.
 */
export function statePredicate(
  shape: Shape,
  states: readonly LiveState[],
  alias: string,
  fragments: Fragments,
): RawBuilder<boolean> | null {
  const branches = shape.states.flatMap(({ state, when }, index) => {
    if (!states.includes(state)) return [];
    const earlier = shape.states.slice(0, index).filter((rule) => !states.includes(rule.state) && !disjoint(rule.when, when));
    const parts = [
      compileCondition(when, alias, fragments),
      ...earlier.map((rule) => fragments.notTrue(compileCondition(rule.when, alias, fragments))),
    ];
    return [sql<boolean>`(${sql.join(parts, sql.raw(' and '))})`];
  });
  return branches.length === 0 ? null : sql`(${sql.join(branches, sql.raw(' or '))})`;
}

/** True when no row can satisfy both, as far as single columns tell. */
export function disjoint(left: Condition, right: Condition): boolean {
  return required(left).some((a) => required(right).some((b) => a.column === b.column && contradict(a, b)));
}

/** A test on one column. */
export type Leaf = Extract<Condition, { column: string }>;

/** The single-column tests every row that satisfies the condition satisfies too. */
export function required(condition: Condition): Leaf[] {
  if ('all' in condition) return condition.all.flatMap(required);
  if ('any' in condition) return condition.any.length === 1 ? condition.any.flatMap(required) : [];
  return 'column' in condition ? [condition] : [];
}

/** Tests that all rows of these states pass, whichever rule gave the state. */
export function commonTests(shape: Shape, states: readonly LiveState[]): Leaf[] {
  const [first, ...others] = shape.states.filter((rule) => states.includes(rule.state)).map((rule) => required(rule.when));
  return (first ?? []).filter((leaf) => others.every((leaves) => leaves.some((other) => JSON.stringify(other) === JSON.stringify(leaf))));
}

/** True when every row is in a state: one of two rules holds for it, because a column is NULL or is not. */
export function coversEveryRow(shape: Shape): boolean {
  const nullTests = shape.states.flatMap(({ when }) => ('isNull' in when ? [when] : []));
  return nullTests.some((a) => a.isNull && nullTests.some((b) => !b.isNull && b.column === a.column));
}

function contradict(a: Leaf, b: Leaf): boolean {
  if ('isNull' in a && a.isNull) return !('isNull' in b && b.isNull);
  if ('isNull' in b && b.isNull) return true;
  const left = values(a);
  const right = values(b);
  return left !== null && right !== null && !left.some((value) => right.includes(value));
}

function values(leaf: Leaf): (string | number | boolean)[] | null {
  if ('equals' in leaf) return [leaf.equals];
  return 'in' in leaf ? leaf.in : null;
}
