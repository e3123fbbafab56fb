import type { ColumnDescription } from '@/lib/database/description';
import { perObject } from '@/lib/shared/kept';
import type { Capabilities, OperationCapability } from '@/lib/shared/model';
import { STATES, type LiveState, type State } from '@/lib/shared/states';
import { deadSinceRole, livePlaces, type FoundOutbox, type Outbox } from './outbox';
import { mayHoldJson } from './rows/role-sql';
import type { Place } from '@/lib/shape/bound';
import { keepsOrder, kindOf, type ChangeRule, type ColumnRole, type OperationRules, type Shape } from '@/lib/shape/shape';

/** What this table can show and which operations it offers, from its shape, the columns really there and its proof. */
export const capabilitiesOf = perObject((outbox: Outbox): Capabilities => {
  const [{ shape, main }, { amount }, { payload }] = [outbox, outbox.settings, outbox.main.roles];
  const operations: Record<string, OperationCapability> = {};
  for (const [key, rules] of Object.entries(shape.operations)) operations[key] = operationCapability(outbox, rules);
  operations.archive = { offered: false, because: shape.noArchive ?? 'not_in_schema' };
  operations.restore = { offered: false, because: 'not_in_schema' };
  if (shape.archive !== undefined) {
    const { from, warnings } = shape.archive;
    operations.archive = { offered: true, from: from.filter((state) => canShow(outbox, state)), warnings };
    operations.restore = { offered: true, from: ['archived'], warnings: [] };
  }
  for (const key of outbox.refused) operations[key] = { offered: false, because: 'failed_its_proof' };
  const fields = fieldsWhere((role) => main.roles[role] !== undefined);
  return {
    states: stateCapabilities((state) => stateCapability(outbox, state)),
    operations,
    keepsOrder: keepsOrder(shape),
    fields: {
      ...fields,
      error: fields.error || outbox.dead?.roles.error !== undefined,
      diedAt: canShow(outbox, 'dead') && livePlaces(outbox).some((place) => place.roles[deadSinceRole(place)] !== undefined),
      amount: amount !== null && (main.description.columns.has(amount.value) || (!!payload && mayHoldJson(payload.column, shape))),
    },
  };
});

type Fields = Capabilities['fields'];

const FIELDS = {
  topic: 'topic',
  aggregate: 'aggregateId',
  createdAt: 'createdAt',
  publishedAt: 'publishedAt',
  lastAttemptAt: 'attemptedAt',
  diedAt: 'diedAt',
  attempts: 'attempts',
  error: 'error',
  dedupKey: 'dedupKey',
  traceId: 'traceId',
  headers: 'headers',
  amount: 'payload',
  availableAt: 'availableAt',
  lockedUntil: 'lockedUntil',
  lockedBy: 'lockedBy',
} as const satisfies Record<keyof Fields, ColumnRole>;

export const fieldsWhere = (has: (role: (typeof FIELDS)[keyof Fields]) => boolean): Fields =>
  Object.fromEntries(Object.entries(FIELDS).map(([field, role]) => [field, has(role)])) as unknown as Fields;

type StateCapability = Capabilities['states'][State];

export const stateCapabilities = (of: (state: State) => StateCapability): Capabilities['states'] =>
  Object.fromEntries(STATES.map((state) => [state, of(state)])) as Capabilities['states'];

/** Whether a shape has an operation or an archive at all; what its table lacks is not considered. */
export const hasOperations = ({ operations, archive }: Pick<Shape, 'operations' | 'archive'>): boolean =>
  archive !== undefined || Object.values(operations).some((rules) => Array.isArray(rules) && rules.some((rule) => 'version' in rule));

function canShow(outbox: FoundOutbox, state: State): boolean {
  if (state === 'archived') return outbox.shape.archive !== undefined;
  if (state === 'dead' && outbox.dead !== null) return true;
  return outbox.shape.states.some((rule) => rule.state === state);
}

function stateCapability(outbox: FoundOutbox, state: State): StateCapability {
  if (canShow(outbox, state)) return { available: true };
  const kind = kindOf(outbox.shape);
  if (kind === 'external' && state !== 'archived') return { available: false, because: 'external_relay' };
  return { available: false, because: kind === 'presence' && state === 'published' ? 'deleted_on_publish' : 'not_in_schema' };
}

function operationCapability(outbox: FoundOutbox, rules: OperationRules): OperationCapability {
  if (!Array.isArray(rules)) return { offered: false, because: rules.refuse };
  const changes = rules.filter((rule): rule is ChangeRule => 'version' in rule);
  const usable = changes.filter((rule) => whyNotOffered(outbox, rule) === null);
  if (usable.length === 0) {
    const refusal = rules.find((rule) => 'refuse' in rule)?.refuse;
    return { offered: false, because: (changes[0] === undefined ? refusal : whyNotOffered(outbox, changes[0])) ?? 'not_in_schema' };
  }
  const from = usable.flatMap((rule) => rule.from).filter((state) => canShow(outbox, state));
  return { offered: true, from: [...new Set(from)], warnings: [...new Set(usable.flatMap((rule) => rule.warnings))] };
}

/** Kinds of one line become each other. */
const ALIKE: readonly (readonly ColumnDescription['kind'][])[] = [
  ['integer', 'decimal'],
  ['instant', 'wall_clock'],
];

/** Whether an INSERT puts a value of `theirs` into `ours`; bytes become a text of hexadecimal digits. */
const becomes = (theirs: ColumnDescription, ours: ColumnDescription): boolean =>
  theirs.type === ours.type ||
  (ours.labels === undefined &&
    (theirs.kind === ours.kind ||
      (ours.kind === 'text' && theirs.kind !== 'binary') ||
      ALIKE.some((kinds) => kinds.includes(theirs.kind) && kinds.includes(ours.kind))));

function fitsInto({ shape, main, database }: FoundOutbox, from: Place, { set }: ChangeRule): boolean {
  if (from === main || database.engine.features.convertsOnInsert) return true;
  return [...from.description.columns.values()].every((theirs) => {
    const ours = main.description.columns.get(shape.dead?.map?.[theirs.name] ?? theirs.name);
    return ours === undefined || ours.name in set || becomes(theirs, ours);
  });
}

/** The refusal if a rule cannot run on this table because of an optional column, of types or of a setting; otherwise null. */
export function whyNotOffered(outbox: FoundOutbox, rule: ChangeRule): string | null {
  const { needs, olderThanStuckAfter: age } = rule;
  if (needs !== undefined && outbox.parameters.extra[needs.parameter] !== needs.equals) return 'needs_setting';
  const place = rule.moveTo === 'main' && outbox.dead !== null ? outbox.dead : outbox.main;
  if (!fitsInto(outbox, place, rule)) return 'types_differ';
  return age === undefined || place.description.columns.has(age) ? null : 'no_claim_time';
}

/** The rule of an operation for a state: a change or a refusal; null if no rule is for this state. */
export function ruleFor(outbox: FoundOutbox, operation: string, state: LiveState): ChangeRule | { refuse: string } | null {
  const rules = outbox.shape.operations[operation];
  if (rules === undefined) return null;
  if (!Array.isArray(rules)) return { refuse: rules.refuse };
  const rule = rules.find((candidate) => candidate.from.includes(state));
  if (rule === undefined || 'refuse' in rule) return rule ?? null;
  const why = whyNotOffered(outbox, rule);
  return why === null ? rule : { refuse: why };
}

/** The outbox with all operations of its mapping, including those that failed their proof. */
export const asMapped = (outbox: Outbox): Outbox => ({ ...outbox, refused: [] });
