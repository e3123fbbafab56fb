/** Rows that a rule of the shape says are published: operations after which a relay may publish leave them alone, whatever their state. */
import { sql } from 'kysely';
import { and, compileCondition, negated, or, type Test } from '@/lib/shape/compile';
import { disjoint } from '@/lib/shape/reason';
import type { Outbox } from '@/lib/outbox/outbox';
import { scopeOf } from '@/lib/outbox/rows/role-sql';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import type { Condition } from '@/lib/shape/shape';
import type { LiveState } from '@/lib/shared/states';

/** True for rows that any `published` rule matches, except a catch-all, which proves nothing. In a dead-letter table all rows are dead. */
export function fitsPublished(outbox: Outbox, at: PlaceSql): Test {
  const rules = at.place.key === 'dead' ? [] : publishedRules(outbox);
  if (rules.length === 0) return sql`false`;
  const tests = rules.map((when) => compileCondition(when, at.alias, scopeOf(outbox, at.place)));
  return sql`(${or(tests)})`;
}

/** `rows` of these states, without those that a `published` rule matches too. */
export function unlessPublished(outbox: Outbox, at: PlaceSql, states: readonly LiveState[], rows: Test): Test {
  const ordered = outbox.shape.states;
  const from = ordered.filter(({ state }) => states.includes(state));
  // In the outbox table, rows of earlier rules are excluded already.
  const overruled = (when: Condition, rule: (typeof from)[number]): boolean =>
    !disjoint(rule.when, when) && (at.place.key !== 'main' || ordered.findIndex((one) => one.when === when) > ordered.indexOf(rule));
  const rules = publishedRules(outbox).filter((when) => from.some((rule) => overruled(when, rule)));
  if (rules.length === 0) return rows;
  const tests = rules.map((when) => negated(when, at.alias, scopeOf(outbox, at.place)));
  return sql`(${rows} and ${and(tests)})`;
}

const publishedRules = ({ shape }: Outbox): Condition[] =>
  shape.states.filter(({ state, when }) => state === 'published' && when.kind !== 'always').map(({ when }) => when);
