import { missingColumn, ruleFor } from '@/lib/outbox/capabilities';
import { statePredicate } from '@/lib/outbox/conditions';
import type { Outbox } from '@/lib/outbox/outbox';
import type { ChangeRule } from '@/lib/outbox/shape';
import { sql } from 'kysely';
import { generalRefusal, isLive, type Operation, type Step } from './operation';

/** An operation that a shape spells out as rules by state: retry, requeue and release are nothing else. */
export function ruleOperation(key: string): Operation {
  return {
    key,
    undo: null,
    steps(outbox) {
      const rules = outbox.shape.operations[key];
      if (!Array.isArray(rules)) return [];
      return rules.flatMap((rule) => ('version' in rule && missingColumn(outbox, rule) === null ? stepsOfRule(outbox, rule) : []));
    },
    refusal(outbox, state) {
      const rule = isLive(state) ? ruleFor(outbox, key, state) : null;
      if (rule !== null && 'version' in rule) return null;
      const general = generalRefusal(state);
      // A published row is never "not supported": it is done, whatever the shape says of the operation.
      if (rule === null || state === 'published') return general;
      return { code: 'not_supported', because: rule.refuse };
    },
  };
}

function stepsOfRule(outbox: Outbox, rule: ChangeRule): Step[] {
  const common = {
    version: rule.version,
    set: rule.set,
    olderThanStuckAfter: rule.olderThanStuckAfter ?? null,
    notify: rule.notify === undefined ? null : { ...rule.notify, channel: outbox.channel ?? rule.notify.channel },
    warnings: rule.warnings,
  };
  const steps: Step[] = [];
  const { fragments } = outbox.database.engine;
  if (rule.from.includes('dead') && outbox.dead !== null) {
    steps.push({ ...common, source: outbox.dead, target: rule.moveTo === 'main' ? outbox.main : null, match: () => sql`true` });
  }
  // A rule that moves rows back speaks of the dead-letter table alone.
  if (rule.moveTo === undefined && statePredicate(outbox.shape, rule.from, 'o', fragments) !== null) {
    steps.push({
      ...common,
      source: outbox.main,
      target: null,
      match: (at) => statePredicate(outbox.shape, rule.from, at.alias, fragments) ?? sql`false`,
    });
  }
  return steps;
}
