import { ruleFor, whyNotOffered } from '@/lib/outbox/capabilities';
import { compileCondition, statePredicate } from '@/lib/shape/compile';
import type { Outbox } from '@/lib/outbox/outbox';
import { scopeOf } from '@/lib/outbox/rows/role-sql';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import type { Condition } from '@/lib/shape/schema/condition';
import type { ChangeRule } from '@/lib/shape/shape';
import { sql, type RawBuilder } from 'kysely';
import { generalRefusal, isLive, type Operation, type Step } from '../operation';
import { unlessPublished } from '../published';

/** An operation that shapes define as rules by state: retry, requeue and release. */
export function ruleOperation(key: string): Operation {
  return {
    key,
    undo: null,
    sendsAgain: true,
    steps(outbox) {
      const rules = outbox.shape.operations[key];
      if (!Array.isArray(rules)) return [];
      return rules.flatMap((rule) => ('version' in rule && whyNotOffered(outbox, rule) === null ? stepsOfRule(outbox, rule) : []));
    },
    refusal(outbox, state) {
      const rule = isLive(state) ? ruleFor(outbox, key, state) : null;
      if (rule !== null && 'version' in rule) return null;
      const general = generalRefusal(state);
      // A published row is never "not supported": it is finished, whatever the shape says of the operation.
      if (rule === null || state === 'published') return general;
      return { code: 'not_supported', because: rule.refuse };
    },
  };
}

function stepsOfRule(outbox: Outbox, rule: ChangeRule): Step[] {
  const common = {
    dead: false,
    version: rule.version,
    set: rule.set,
    call: rule.call ?? null,
    olderThanStuckAfter: rule.olderThanStuckAfter ?? null,
    notify: rule.notify === undefined ? null : { ...rule.notify, channel: outbox.channel ?? rule.notify.channel },
    warnings: rule.warnings,
  };
  const steps: Step[] = [];
  if (rule.from.includes('dead') && outbox.dead !== null) {
    const target = rule.moveTo === 'main' ? outbox.main : null;
    steps.push({ ...common, source: outbox.dead, target, match: (at) => rowsWhere(outbox, rule.guard, at, sql`true`) });
  }
  // A rule that moves rows back applies to the dead-letter table alone.
  if (rule.moveTo === undefined && statePredicate(outbox.shape, rule.from, 'o', outbox.scope) !== null) {
    steps.push({
      ...common,
      source: outbox.main,
      target: null,
      match(at) {
        const rows = statePredicate(outbox.shape, rule.from, at.alias, outbox.scope) ?? sql<boolean>`false`;
        return rowsWhere(outbox, rule.guard, at, unlessPublished(outbox, at, rule.from, rows));
      },
    });
  }
  return steps;
}

export const rowsWhere = (outbox: Outbox, guard: Condition | undefined, at: PlaceSql, rows: RawBuilder<boolean>): RawBuilder<boolean> =>
  guard === undefined ? rows : sql`(${rows} and ${compileCondition(guard, at.alias, scopeOf(outbox, at.place))})`;
