/**
 * The shape language: a table layout and its meaning, as data. A built-in shape and an inline mapping of the
 * configuration are the same thing and pass the same schema; unknown means read-only.
 */
import { z } from 'zod';
import { LIVE_STATES } from '@/lib/shared/states';

const identifier = z.string().regex(/^[A-Za-z_][A-Za-z0-9_$]{0,62}$/, 'write a plain column name: letters, digits, _ and $');

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** A test on one row of the outbox table. Comparisons with NULL are false, as in SQL. */
export type Condition =
  | { column: string; equals: string | number | boolean }
  | { column: string; in: (string | number)[] }
  | { column: string; isNull: boolean }
  | { column: string; above: number }
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition };

export const conditionSchema: z.ZodType<Condition> = z.lazy(() =>
  z.union([
    z.strictObject({ column: identifier, equals: scalar }),
    z.strictObject({ column: identifier, in: z.array(z.union([z.string(), z.number()])).min(1) }),
    z.strictObject({ column: identifier, isNull: z.boolean() }),
    z.strictObject({ column: identifier, above: z.number() }),
    z.strictObject({ all: z.array(conditionSchema).min(1) }),
    z.strictObject({ any: z.array(conditionSchema).min(1) }),
    z.strictObject({ not: conditionSchema }),
  ]),
);

/** Where a role lives: a column, or a path inside a JSON column. `optional` columns may be missing from the table. */
export const columnSourceSchema = z.union([
  identifier,
  z.strictObject({ column: identifier, path: z.array(z.string().min(1)).min(1).optional(), optional: z.boolean().optional() }),
]);
export type ColumnSource = z.infer<typeof columnSourceSchema>;

/** What a column means. `attemptedAt` is when the relay last took the row. */
export const COLUMN_ROLES = [
  'id',
  'type',
  'aggregateType',
  'aggregateId',
  'createdAt',
  'publishedAt',
  'attemptedAt',
  'diedAt',
  'attempts',
  'error',
  'dedupKey',
  'traceId',
  'payload',
  'headers',
] as const;
export type ColumnRole = (typeof COLUMN_ROLES)[number];

const columnsSchema = z.partialRecord(z.enum(COLUMN_ROLES), columnSourceSchema);

/** What an operation writes into a column. */
export const valueSchema = z.union([
  z.strictObject({ value: z.union([scalar, z.null()]) }),
  /** The value of a column of the same row: `{column: 'last_error'}` on itself touches the row. */
  z.strictObject({ column: identifier }),
  z.strictObject({ parameter: z.enum(['maxAttempts']), minus: z.number().int().default(0) }),
  z.strictObject({ now: z.literal(true) }),
]);
export type Value = z.infer<typeof valueSchema>;

const fromStates = z.array(z.enum(LIVE_STATES)).min(1);

/** How an operation changes a row of these states. */
export const changeRuleSchema = z.strictObject({
  from: fromStates,
  /**
   * What the version covers. `exact`: the row as a whole, for rows no relay is working on. `stable`: key, creation
   * time and payload only, for rows that a relay keeps rewriting.
   */
  version: z.enum(['exact', 'stable']),
  set: z.record(identifier, valueSchema).default({}),
  /** Move the row into the outbox table from its dead-letter table, keeping every shared column but those in `set`. */
  moveTo: z.literal('main').optional(),
  /** Only rows whose time in this column is older than the outbox's `stuckAfter`; younger ones are `too_young`. */
  olderThanStuckAfter: identifier.optional(),
  /** NOTIFY sent in the same transaction, with the value of a column as its payload. */
  notify: z.strictObject({ channel: z.string().min(1).max(63), column: identifier }).optional(),
  /** Cautions for the operator, words under `warnings.<code>`. */
  warnings: z.array(z.string()).default([]),
});
export type ChangeRule = z.infer<typeof changeRuleSchema>;

/** Why an operation is not offered; words under `refusals.<code>`. */
export const refusalRuleSchema = z.strictObject({ from: fromStates, refuse: z.string().min(1) });
export type RefusalRule = z.infer<typeof refusalRuleSchema>;

/** The rules of one operation by state, or one refusal for all states. A state no rule names is `wrong_state`. */
export const operationSchema = z.union([
  z.strictObject({ refuse: z.string().min(1) }),
  z.array(z.union([changeRuleSchema, refusalRuleSchema])).min(1),
]);
export type OperationRules = z.infer<typeof operationSchema>;

const sampleRow = z.record(identifier, z.union([scalar, z.null(), z.record(z.string(), z.unknown())]));

export const shapeSchema = z.strictObject({
  /** Built-in shapes: the file's name. Inline mappings: `inline`. */
  key: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  label: z.string().min(1),
  /** Where the layout comes from. */
  origin: z.string().min(1),
  engines: z.array(z.enum(['postgres', 'mysql'])).min(1),
  /** The table's usual name, schema included where the origin has one. */
  table: z.string().min(1),
  columns: columnsSchema.refine((columns) => columns.id !== undefined, 'name the id column'),
  /** Ordered: the first rule that matches gives the state of a row of the outbox table. */
  states: z.array(z.strictObject({ state: z.enum(LIVE_STATES), when: conditionSchema })).min(1),
  /** The dead-letter table, in the schema of the outbox table unless the configuration says otherwise. Its rows are dead. */
  dead: z.strictObject({ table: identifier, columns: columnsSchema }).optional(),
  /** Parameters with their defaults; `stuckAfter` in seconds. `timeZone` is how zone-less times are to be read. */
  parameters: z
    .strictObject({
      maxAttempts: z.number().int().positive().optional(),
      stuckAfter: z.number().positive().optional(),
      timeZone: z.string().default('UTC'),
    })
    .default({ timeZone: 'UTC' }),
  /** By operation key: retry, requeue, release. */
  operations: z.record(z.string(), operationSchema).default({}),
  archive: z.strictObject({ from: fromStates, warnings: z.array(z.string()).default([]) }).optional(),
  /** How a restored pending event is made dead, so that no relay sends it unasked. */
  asDead: z.strictObject({ set: z.record(identifier, valueSchema).default({}), moveTo: z.literal('dead').optional() }).optional(),
  /** True when the relay publishes the events of one aggregate strictly one after the other. */
  keepsOrder: z.boolean().default(false),
  /** True when the failure that makes an event dead does not raise its counter: the limit is looked at before it rises. */
  diesUncounted: z.boolean().default(false),
  /** Cautions that hold for every event of this shape on its page, by state. */
  cautions: z.partialRecord(z.enum(LIVE_STATES), z.array(z.string())).default({}),
  /** DDL and six rows to prove the mapping with: one per state it can show, the rest at its edges. */
  sample: z
    .strictObject({
      ddl: z.partialRecord(z.enum(['postgres', 'mysql']), z.array(z.string())),
      rows: z.array(z.strictObject({ state: z.enum(LIVE_STATES), in: z.enum(['main', 'dead']).default('main'), values: sampleRow })).min(6),
    })
    .optional(),
});
export type Shape = z.infer<typeof shapeSchema>;
/** What a shape file writes: defaults may be left out. */
export type ShapeInput = z.input<typeof shapeSchema>;

/** Parses a shape once, when its module loads, so that a wrong one fails every test and no request. */
export function defineShape(input: ShapeInput): Shape {
  return shapeSchema.parse(input);
}
