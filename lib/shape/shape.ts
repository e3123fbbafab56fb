/** The shape language: a table layout and its meaning as data, built in or mapped; see docs/mapping.md. */
import { z } from 'zod';
import { conditionSchema } from './schema/condition';
import { nameSchema, tableMatchSchema, tableRefSchema } from './schema/names';
import { archiveSchema, asDeadSchema, liveStateSchema, lockSchema, operationSchema } from './schema/operation';
import { parameterName, parametersSchema } from './schema/parameters';
import { columnsSchema } from './schema/source';
import { ENGINE_KEYS } from '@/lib/shared/model';

export type { Condition, WrittenCondition } from './schema/condition';
export type { ChangeRule, OperationRules, Value } from './schema/operation';
export { COLUMN_ROLES, VALUE_ROLES, type ColumnRole, type ValueRole } from './schema/source';

/** How a table shows that an event is published; derived from the states if left out. */
const KINDS = ['status', 'timestamp', 'flag', 'presence', 'cursor', 'child', 'external'] as const;
export type Kind = (typeof KINDS)[number];

/** The first matching rule gives the state. `label` is the library's own word: `{ state: dead, label: cancelled, when: … }`. */
const stateRuleSchema = z.strictObject({
  state: liveStateSchema,
  when: conditionSchema,
  label: z.string().min(1).max(40).optional().describe("The library's own word for it"),
});

/** An earlier event of a key in one of `blockedBy` blocks later ones; `key` is a role, a column or several columns. */
const orderingSchema = z.strictObject({
  key: z.union([nameSchema, z.array(nameSchema).min(1)]).describe('A role, a column, or several columns'),
  by: z.enum(['sequence', 'createdAt']).default('createdAt'),
  blockedBy: z.array(liveStateSchema).default([]).describe('States of an earlier event that hold later ones up'),
});

/** `visible: false`: a relay only holds a row lock, so no row is seen as processing. A note: nothing is read from it. */
const claimSchema = z.strictObject({
  visible: z.boolean(),
  leaseSeconds: parameterName.optional().describe('The parameter that says how long a claim holds'),
});

/** A table beside the outbox, in its schema unless it names one; its name may contain captured parts: `offsets_{topic}`. */
const companionSchema = z.strictObject({
  table: tableRefSchema,
  on: z.record(nameSchema, nameSchema).default({}).describe('Its column: the column of the outbox table it equals'),
  purpose: z.enum(['dead', 'archive', 'offsets', 'tasks', 'errors', 'instances', 'children', 'other']),
  optional: z.boolean().optional().describe('Whatever needs it is left out where it does not exist'),
});

const namesSchema = z.union([nameSchema.transform((name) => [name]), z.array(nameSchema).min(1)]);

/** The position of each reader: `{ companion: offsets, group: consumer_group, position: [offset], passed: [offset_acked] }`. */
const cursorSchema = z.strictObject({
  companion: z.string().min(1),
  group: nameSchema.describe('Column of the companion that names the reader'),
  position: namesSchema.describe('Columns of the outbox table that order its rows'),
  passed: namesSchema.describe('Columns of the companion: done up to here'),
  taken: namesSchema.optional().describe('Columns of the companion: taken up to here'),
});

/** The dead-letter table, in the schema of the outbox table unless it names one. Roles left out are those of the outbox table. */
const deadSchema = z.strictObject({
  table: tableRefSchema,
  columns: columnsSchema.default({}),
  /** A moved row's columns are matched by role, then by name; this maps the others. */
  map: z.record(nameSchema, nameSchema).optional().describe('Its column: the column of the outbox table it comes from'),
});

/** How a built-in shape is detected; column names are compared ignoring case. */
const detectSchema = z.strictObject({
  mustHave: z.array(z.string().min(1)).min(1),
  mustNotHave: z.array(z.string().min(1)).default([]),
  /** Columns only this library has: with all of them it is certain. */
  signature: z.array(z.string().min(1)).default([]),
  /** Column types that distinguish two shapes: `{ transaction_id: xid8 }`. */
  types: z.record(z.string().min(1), z.string().min(1)).default({}),
  /** Tables beside it that raise its score; `{topic}` is a captured part, `*` matches anything. */
  companions: z.array(z.string().min(1)).default([]),
  /** Without effect: table names are always compared ignoring case. */
  caseless: z.boolean().optional(),
  /** Names are compared ignoring underscores. */
  underscoreless: z.boolean().optional(),
});

/** `{ source: 'dotnetcore/CAP@v8.3', verified: source, warnings: [rewrites_whole_row] }`; texts under `warnings.<code>`. */
const factsSchema = z.strictObject({
  source: z.string().min(1).describe('Repository and commit, or package and version'),
  verified: z.enum(['ran', 'source', 'article', 'partial']),
  warnings: z.array(z.string().min(1)).default([]),
});

/** What a reader of such a payload has to know; texts under `warnings.<code>`. */
export const PAYLOAD_WARNINGS = ['python_pickle', 'php_serialised', 'binary_envelope', 'many_messages'] as const;

/** `{ encoding: base64 }`, `{ encoding: bytes, warn: binary_envelope }`; by the column's type if left out. */
const payloadSchema = z.strictObject({
  encoding: z.enum(['json', 'text', 'bytes', 'base64', 'opaque']),
  warn: z.enum(PAYLOAD_WARNINGS).optional(),
});

export const shapeSchema = z.strictObject({
  /** `inline` for mappings in the configuration. */
  key: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  label: z.string().min(1).describe('What people call it'),
  origin: z.string().min(1),
  engines: z.array(z.enum(ENGINE_KEYS)).min(1),
  /** The table's usual name, with schema if the origin uses one. */
  table: tableRefSchema,
  match: tableMatchSchema.optional(),
  family: z.enum(['outbox', 'inbox', 'job_queue', 'dead_letters']).default('outbox'),
  kind: z.enum(KINDS).optional().describe('How the table shows that an event is out; worked out from the states when left out'),
  columns: columnsSchema.refine((columns) => columns.id !== undefined, 'name the id column'),
  /** How columns without a role encode a time. */
  times: z.record(z.string(), z.enum(['auto', 'utc', 'epoch_ms', 'epoch_s', 'iso'])).default({}),
  /** `{ id: uuid, order_key: text }`: what columns of bytes hold. */
  bytes: z.record(nameSchema, z.enum(['text', 'uuid'])).optional(),
  rows: conditionSchema.optional().describe('Only these rows are events'),
  /** Ordered: the first matching rule gives a row's state. Empty if the table does not show it. */
  states: z.array(stateRuleSchema),
  dead: deadSchema.optional(),
  companions: z.record(z.string().min(1), companionSchema).default({}),
  cursor: cursorSchema.optional(),
  parameters: parametersSchema,
  claim: claimSchema.optional(),
  ordering: orderingSchema.optional(),
  /** By operation key: retry, requeue, release. */
  operations: z.record(z.string(), operationSchema).default({}),
  lock: lockSchema.optional(),
  archive: archiveSchema.optional(),
  /** Why no row can be archived, if `archive` is left out; texts under `refusals.<code>`. */
  noArchive: z.string().min(1).optional(),
  asDead: asDeadSchema.optional(),
  payload: payloadSchema.optional(),
  /** `{ encoding: json }`; by the column's type if left out. */
  headers: payloadSchema.pick({ encoding: true }).optional(),
  attemptsCount: z
    .enum(['claims', 'failures'])
    .optional()
    .describe(
      'Whether the counter of attempts rises when a relay takes an event or when an attempt has failed; worked out from the states when left out',
    ),
  /** True if the failure that makes an event dead does not raise its counter: the limit is checked before counting. */
  diesUncounted: z.boolean().default(false),
  /** Warnings on the page of every event of this shape, by state. */
  cautions: z.partialRecord(liveStateSchema, z.array(z.string())).default({}),
  detect: detectSchema.optional(),
  /** Our tests run its operations on a table made by the origin's own DDL: on such a table they need no further proof. */
  proven: z.literal('by_tests').optional(),
  facts: factsSchema.optional(),
});
export type Shape = z.infer<typeof shapeSchema>;
export type ShapeInput = z.input<typeof shapeSchema>;

/** True if the relay sends the events of one key strictly one after the other. */
export const keepsOrder = (shape: Pick<Shape, 'ordering'>): boolean => (shape.ordering?.blockedBy.length ?? 0) > 0;

/** How the table shows that an event is published, derived unless the shape says it. */
export function kindOf(shape: Pick<Shape, 'kind' | 'states' | 'cursor'>): Kind {
  if (shape.kind !== undefined) return shape.kind;
  if (shape.states.length === 0) return 'external';
  if (shape.cursor !== undefined) return 'cursor';
  const published = shape.states.filter((rule) => rule.state === 'published').map((rule) => rule.when);
  if (published.length === 0) return shape.states.every((rule) => rule.state === 'dead') ? 'status' : 'presence';
  if (published.some((when) => when.kind === 'exists')) return 'child';
  if (published.some((when) => when.kind === 'isNull')) return 'timestamp';
  return published.some((when) => when.kind === 'isTrue') ? 'flag' : 'status';
}
