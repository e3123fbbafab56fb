/** What may be done to rows of which state, and what that writes. */
import { z } from 'zod';
import { LIVE_STATES } from '@/lib/shared/states';
import { conditionSchema, scalarSchema } from './condition';
import { nameSchema } from './names';
import { parameterName } from './parameters';

/**
 * Operations that a shape spells out as rules by state. `retry`: exactly one more attempt, due now. `requeue`: starting over, attempts zero,
 * lease and error cleared, out of the dead-letter table. `release`: a stuck event back to pending.
 */
export const RULE_OPERATIONS = ['retry', 'requeue', 'release'] as const;

const plainValue = z.union([
  z.strictObject({ value: z.union([scalarSchema, z.null()]) }),
  /** The value of a column of the same row: `{column: 'last_error'}` on itself touches the row. */
  z.strictObject({ column: nameSchema, plus: z.number().int().optional() }),
  z.strictObject({ parameter: parameterName, minus: z.number().int().default(0) }),
  /** The database's clock, as the column encodes times, and so many seconds after it. */
  z.strictObject({ now: z.literal(true), plusSeconds: z.number().int().optional() }),
]);
export type PlainValue = z.infer<typeof plainValue>;

/** What an operation writes into a column: `{value: NEW}`, `{now: true}`, `{greatest: [{column: max_attempts}, {column: attempts, plus: 1}]}`. */
export const valueSchema = z.union([
  plainValue,
  z.strictObject({ least: z.array(plainValue).min(2) }),
  z.strictObject({ greatest: z.array(plainValue).min(2) }),
]);
export type Value = z.infer<typeof valueSchema>;
export type ValueInput = z.input<typeof valueSchema>;

export const liveStateSchema = z.enum(LIVE_STATES);
const fromStates = z.array(liveStateSchema).min(1);

/** A function of the library that does the work, called with the ids of exactly the rows that were locked under the full guard. */
const callSchema = z.strictObject({
  function: z.string().regex(/^[^.\u0000]{1,64}(\.[^.\u0000]{1,64})?$/, 'write function or schema.function'),
  arguments: z.array(
    z.union([
      z.strictObject({ name: nameSchema.optional(), ids: z.literal(true) }),
      z.strictObject({ name: nameSchema.optional(), now: z.literal(true) }),
      z.strictObject({ name: nameSchema.optional(), value: z.union([scalarSchema, z.null()]) }),
    ]),
  ),
  /** Columns the function writes, for the grants the operator needs. */
  writes: z.array(nameSchema).default([]),
});
export type Call = z.infer<typeof callSchema>;

/** How sure we are that the library takes such a change well. */
const BASES = ['official', 'mirrors_library', 'official_sql', 'inferred'] as const;

const changeRuleSchema = z.strictObject({
  from: fromStates,
  /** `exact`: the row as a whole, for rows no relay works on. `stable`: key, creation time and payload, for those one keeps rewriting. */
  version: z.enum(['exact', 'stable']),
  set: z.record(nameSchema, valueSchema).default({}),
  /** What must hold of the row beside its state; other rows are `wrong_state`. */
  guard: conditionSchema.optional(),
  /** Move the row into the outbox table from its dead-letter table, keeping every shared column but those in `set`. */
  moveTo: z.literal('main').optional(),
  call: callSchema.optional(),
  /** Only rows whose time in this column is older than the outbox's `stuckAfter`; younger ones are `too_young`. */
  olderThanStuckAfter: nameSchema.optional(),
  /** NOTIFY sent in the same transaction, with the value of a column as its payload. */
  notify: z.strictObject({ channel: z.string().min(1).max(63), column: nameSchema }).optional(),
  /** Cautions for the operator, words under `warnings.<code>`. */
  warnings: z.array(z.string()).default([]),
  basis: z.enum(BASES).optional(),
  /** Offered only where the configuration says so: `{ parameter: relay, equals: polling }`. */
  needs: z.strictObject({ parameter: parameterName, equals: z.union([z.string(), z.number()]) }).optional(),
});
export type ChangeRule = z.infer<typeof changeRuleSchema>;
export type ChangeRuleInput = z.input<typeof changeRuleSchema>;

/** Why an operation is not offered; words under `refusals.<code>`. */
const refusalRuleSchema = z.strictObject({ from: fromStates, refuse: z.string().min(1) });

/** The rules of one operation by state, or one refusal for all states. A state no rule names is `wrong_state`. */
export const operationSchema = z.union([
  z.strictObject({ refuse: z.string().min(1) }),
  z.array(z.union([changeRuleSchema, refusalRuleSchema])).min(1),
]);
export type OperationRules = z.infer<typeof operationSchema>;

export const archiveSchema = z.strictObject({ from: fromStates, warnings: z.array(z.string()).default([]) });

/** How a restored pending event is made dead, so that no relay sends it unasked. */
export const asDeadSchema = z.strictObject({ set: z.record(nameSchema, valueSchema).default({}), moveTo: z.literal('dead').optional() });

/** A counter by which the library notices changes: `{bump: lock_version}` adds one with every change, `{never: version}` leaves it alone. */
export const lockSchema = z.union([z.strictObject({ bump: nameSchema }), z.strictObject({ never: nameSchema })]);
