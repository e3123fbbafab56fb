/** Rows that a rule of the shape says are out: what sends again leaves them alone, whatever state an earlier rule gives them. */
import { sql, type RawBuilder } from 'kysely';
import { compileCondition, negated } from '@/lib/shape/compile';
import { disjoint } from '@/lib/shape/reason';
import type { Outbox } from '@/lib/outbox/outbox';
import { scopeOf } from '@/lib/outbox/rows/role-sql';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import type { Condition } from '@/lib/shape/shape';
import type { LiveState } from '@/lib/shared/states';

/** True for rows that any `published` rule fits; what is left over by all others says nothing. In a dead-letter table all are dead. */
export function fitsPublished(outbox: Outbox, at: PlaceSql): RawBuilder<boolean> {
  const rules = at.place.key === 'dead' ? [] : publishedRules(outbox);
  if (rules.length === 0) return sql`false`;
  const tests = rules.map((when) => compileCondition(when, at.alias, scopeOf(outbox, at.place)));
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** `rows` of these states, but for those that a `published` rule fits too. */
export function unlessPublished(
  outbox: Outbox,
  at: PlaceSql,
  states: readonly LiveState[],
  rows: RawBuilder<boolean>,
): RawBuilder<boolean> {
  const ordered = outbox.shape.states;
  const from = ordered.filter(({ state }) => states.includes(state));
  // In the table itself, earlier rules have had their say already.
  const overruled = (when: Condition, rule: (typeof from)[number]): boolean =>
    !disjoint(rule.when, when) && (at.place.key !== 'main' || ordered.findIndex((one) => one.when === when) > ordered.indexOf(rule));
  const rules = publishedRules(outbox).filter((when) => from.some((rule) => overruled(when, rule)));
  if (rules.length === 0) return rows;
  const tests = rules.map((when) => negated(when, at.alias, scopeOf(outbox, at.place)));
  return sql`(${rows} and ${sql.join(tests, sql` and `)})`;
}

function publishedRules({ shape }: Outbox): Condition[] {
  return shape.states.filter(({ state, when }) => state === 'published' && when.kind !== 'always').map(({ when }) => when);
}
