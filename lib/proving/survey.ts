/** What a proof would try, and what that could trigger. Uses only what the binding knows; reads nothing. */
import { OPERATIONS } from '@/lib/interventions/operations';
import type { TableRules, TriggerRules } from '@/lib/database/description';
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { livePlaces, tableLabel, type Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { ProofCase, ProofTrigger, ProofWarning } from '@/lib/shared/changes/proofs';
import type { State } from '@/lib/shared/states';

export interface Trial extends ProofCase {
  place: Place;
}

/** Every operation from every state it is offered for, in each table that holds events of that state. `outbox`: as its mapping says. */
export function trialsOf(outbox: Outbox): Trial[] {
  return OPERATIONS.flatMap((operation) => {
    const offer = capabilitiesOf(outbox).operations[operation.key];
    if (offer?.offered !== true) return [];
    const steps = operation.steps(outbox);
    return offer.from.flatMap((state) =>
      placesOf(outbox, state)
        // A rule that moves rows out of the dead-letter table is not for dead rows elsewhere.
        .filter((place) => steps.some(({ source }) => source.key === place.key))
        .map((place) => ({ operation: operation.key, state, place, table: tableLabel(place.table) })),
    );
  });
}

export function notOffered(outbox: Outbox): { operation: string; because: string }[] {
  return OPERATIONS.flatMap(({ key }) => {
    const offer = capabilitiesOf(outbox).operations[key];
    return offer?.offered === true ? [] : [{ operation: key, because: offer?.because ?? 'not_in_schema' }];
  });
}

function placesOf(outbox: Outbox, state: State): Place[] {
  if (state === 'archived') return outbox.archive === null ? [] : [outbox.archive];
  const inMain = outbox.shape.states.some((rule) => rule.state === state);
  return [...(inMain ? [outbox.main] : []), ...(state === 'dead' && outbox.dead !== null ? [outbox.dead] : [])];
}

function withRules(outbox: Outbox): [Place, TableRules][] {
  const { rules } = outbox;
  return livePlaces(outbox).flatMap((place) => {
    const own = place.key === 'dead' ? rules.dead : rules.main;
    return own === null ? [] : ([[place, own]] as [Place, TableRules][]);
  });
}

/** Triggers that run when rows of the outbox's tables are written. */
export function triggersOf(outbox: Outbox): ProofTrigger[] {
  return withRules(outbox).flatMap(([place, rules]) =>
    (rules.triggers ?? [])
      .filter(({ enabled, events }) => enabled && events.length > 0)
      .map(({ name, timing, events, calls }) => ({ table: tableLabel(place.table), name, timing, events, calls })),
  );
}

/** What acts outside the transaction, found in the text of triggers: a hint and no guarantee. */
const OUTSIDE =
  /\b(dblink\w*|pg_background\w*|http_(get|post|put|delete|patch|head)|http\s*\(|lo_export|pg_file_write|copy\s+[\s\S]{0,200}?\sprogram)\b/i;
const COUNTERS = /\b(nextval|setval)\s*\(/i;
const TRUSTED = new Set(['plpgsql', 'sql', 'internal']);

/** Side effects that survive a rollback, as far as the catalogue shows them. */
export function warningsOf(outbox: Outbox): ProofWarning[] {
  return withRules(outbox).flatMap(([place, rules]) => {
    const table = tableLabel(place.table);
    const found: ProofWarning[] = (rules.triggers ?? []).filter(({ enabled }) => enabled).flatMap((trigger) => ofTrigger(table, trigger));
    if (rules.triggers === null) found.push({ code: 'triggers_unseen', table, name: null, found: null });
    if (rules.rewritten) found.push({ code: 'rewritten', table, name: null, found: null });
    if (rules.rowSecurity) found.push({ code: 'row_security', table, name: null, found: null });
    return found;
  });
}

/** Whether a trigger may do what a rollback does not undo: then only chosen events are tried. */
export const reachesOutside = (outbox: Outbox): boolean =>
  warningsOf(outbox).some(({ code }) => code === 'outside_call' || code === 'untrusted_language');

function ofTrigger(table: string, { name, source, language, calls }: TriggerRules): ProofWarning[] {
  const outside = OUTSIDE.exec(source)?.[0];
  const counter = COUNTERS.exec(source)?.[1];
  return [
    ...(outside === undefined ? [] : [{ code: 'outside_call' as const, table, name, found: outside }]),
    ...(counter === undefined ? [] : [{ code: 'sequence' as const, table, name, found: `${counter}()` }]),
    ...(TRUSTED.has(language) ? [] : [{ code: 'untrusted_language' as const, table, name, found: `${calls} (${language})` }]),
  ];
}
