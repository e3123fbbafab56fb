/** Which operations are possible in which state, and what they write. */
import { z } from 'zod';
import { LIVE_STATES } from '@/lib/shared/states';
import { conditionSchema, scalarSchema } from './condition';
import { nameSchema } from './names';
import { parameterName } from './parameters';

const plainValue = z.union([
  z.strictObject({ value: z.union([scalarSchema, z.null()]) }),
  /** The value of a column of the same row: `{column: 'last_error'}` set on itself only touches the row. */
  z.strictObject({ column: nameSchema, plus: z.number().int().optional() }),
  z.strictObject({ parameter: parameterName, minus: z.number().int().default(0) }),
  /** The database's time in the column's encoding, plus so many seconds. */
  z.strictObject({ now: z.literal(true), plusSeconds: z.number().int().optional() }),
]);
export type PlainValue = z.infer<typeof plainValue>;

/** A value to write: `{value: NEW}`, `{now: true}`, `{greatest: [{column: max_attempts}, {column: attempts, plus: 1}]}`. */
export const valueSchema = z.union([
  plainValue,
  z.strictObject({ least: z.array(plainValue).min(2) }),
  z.strictObject({ greatest: z.array(plainValue).min(2) }),
]);
export type Value = z.infer<typeof valueSchema>;
export type ValueInput = z.input<typeof valueSchema>;

export const liveStateSchema = z.enum(LIVE_STATES);
const fromStates = z.array(liveStateSchema).min(1);

/** A function of the library, called with the ids of exactly the rows that were locked under the full guard. */
const callSchema = z.strictObject({
  function: z.string().regex(/^[^.\u0000]{1,64}(\.[^.\u0000]{1,64})?$/, 'write function or schema.function'),
  arguments: z.array(
    z.union([
      z.strictObject({ name: nameSchema.optional(), ids: z.literal(true) }),
      z.strictObject({ name: nameSchema.optional(), now: z.literal(true) }),
      z.strictObject({ name: nameSchema.optional(), value: z.union([scalarSchema, z.null()]) }),
    ]),
  ),
  /** Columns the function writes: the operator needs grants on them. */
  writes: z.array(nameSchema).default([]),
});
export type Call = z.infer<typeof callSchema>;

/** Why the library is expected to accept the change. */
const BASES = ['official', 'mirrors_library', 'official_sql', 'inferred'] as const;

const changeRuleSchema = z.strictObject({
  from: fromStates,
  /** `exact`: the whole row, for rows no relay works on. `stable`: key, creation time and payload, for rows a relay keeps rewriting. */
  version: z.enum(['exact', 'stable']),
  set: z.record(nameSchema, valueSchema).default({}),
  /** A condition besides the state; other rows are `wrong_state`. */
  guard: conditionSchema.optional(),
  /** Moves the row from the dead-letter table to the outbox table, with every shared column except those in `set`. */
  moveTo: z.literal('main').optional(),
  call: callSchema.optional(),
  /** Only rows whose time in this column is older than the outbox's `stuckAfter`; others are `too_young`. */
  olderThanStuckAfter: nameSchema.optional(),
  /** NOTIFY in the same transaction, with the value of a column as its payload. */
  notify: z.strictObject({ channel: z.string().min(1).max(63), column: nameSchema }).optional(),
  /** Warnings for the operator, texts under `warnings.<code>`. */
  warnings: z.array(z.string()).default([]),
  basis: z.enum(BASES).optional(),
  /** Offered only if the configuration sets this parameter: `{ parameter: relay, equals: polling }`. */
  needs: z.strictObject({ parameter: parameterName, equals: z.union([z.string(), z.number()]) }).optional(),
});
export type ChangeRule = z.infer<typeof changeRuleSchema>;
export type ChangeRuleInput = z.input<typeof changeRuleSchema>;

/** Why an operation is not offered; texts under `refusals.<code>`. */
const refusalRuleSchema = z.strictObject({ from: fromStates, refuse: z.string().min(1) });

/** The rules of an operation by state, or one refusal for all states. A state without a rule is `wrong_state`. */
export const operationSchema = z.union([
  z.strictObject({ refuse: z.string().min(1) }),
  z.array(z.union([changeRuleSchema, refusalRuleSchema])).min(1),
]);
export type OperationRules = z.infer<typeof operationSchema>;

export const archiveSchema = z.strictObject({
  from: fromStates,
  /** A condition besides the state, for rows of the outbox table; rows of the dead-letter table belong to no relay. */
  guard: conditionSchema.optional(),
  warnings: z.array(z.string()).default([]),
});

/** How a restored pending event is made dead, so that no relay sends it without an operator's request. */
export const asDeadSchema = z.strictObject({ set: z.record(nameSchema, valueSchema).default({}), moveTo: z.literal('dead').optional() });

/** A counter by which the library detects changes: `{bump: lock_version}` adds one per change, `{never: version}` never writes it. */
export const lockSchema = z.union([z.strictObject({ bump: nameSchema }), z.strictObject({ never: nameSchema })]);
