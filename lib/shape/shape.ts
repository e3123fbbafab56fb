/** The shape language: a table layout and its meaning, as data, built in or mapped; docs/mapping.md teaches it. */
import { z } from 'zod';

import { companionSchema, cursorSchema, deadSchema } from './schema/companion';
import { conditionSchema } from './schema/condition';
import { detectSchema, factsSchema, payloadSchema } from './schema/facts';
import { tableMatchSchema, tableRefSchema } from './schema/names';
import { archiveSchema, asDeadSchema, lockSchema, operationSchema } from './schema/operation';
import { claimSchema, orderingSchema, KINDS, liveStateSchema, stateRuleSchema, type Kind } from './schema/state';
import { parametersSchema } from './schema/parameters';
import { columnsSchema } from './schema/source';

export type { Condition, WrittenCondition } from './schema/condition';
export type { ChangeRule, OperationRules, Value } from './schema/operation';
export { COLUMN_ROLES, type ColumnRole } from './schema/source';

export const shapeSchema = z.strictObject({
  /** Built-in shapes: the file's name. Inline mappings: `inline`. */
  key: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  label: z.string().min(1).describe('What people call it'),
  origin: z.string().min(1),
  engines: z.array(z.enum(['postgres', 'mysql'])).min(1),
  /** The table's usual name, schema included where the origin has one. */
  table: tableRefSchema,
  match: tableMatchSchema.optional(),
  family: z.enum(['outbox', 'inbox', 'job_queue', 'dead_letters']).default('outbox'),
  kind: z.enum(KINDS).optional().describe('How the table shows that an event is out; worked out from the states when left out'),
  columns: columnsSchema.refine((columns) => columns.id !== undefined, 'name the id column'),
  /** How columns that have no role encode a time. */
  times: z.record(z.string(), z.enum(['auto', 'utc', 'epoch_ms', 'epoch_s', 'iso'])).default({}),
  rows: conditionSchema.optional().describe('Only these rows are events'),
  /** Ordered: the first rule that matches gives the state of a row of the outbox table. Empty where the table does not show it. */
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
  /** Why no row is taken out, where `archive` is left out; words under `refusals.<code>`. */
  noArchive: z.string().min(1).optional(),
  asDead: asDeadSchema.optional(),
  payload: payloadSchema.optional(),
  /** True when the failure that makes an event dead does not raise its counter: the limit is compared before it rises. */
  diesUncounted: z.boolean().default(false),
  /** Cautions that hold for every event of this shape on its page, by state. */
  cautions: z.partialRecord(liveStateSchema, z.array(z.string())).default({}),
  detect: detectSchema.optional(),
  /** Its operations run in our tests against a table made by the origin's own DDL: on such a table they need no further proof. */
  proven: z.literal('by_tests').optional(),
  facts: factsSchema.optional(),
});
export type Shape = z.infer<typeof shapeSchema>;
export type ShapeInput = z.input<typeof shapeSchema>;

/** True when the relay sends the events of one key strictly one after the other. */
export function keepsOrder(shape: Pick<Shape, 'ordering'>): boolean {
  return (shape.ordering?.blockedBy.length ?? 0) > 0;
}

/** How the table shows that an event is out, where the shape does not say it itself. */
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
