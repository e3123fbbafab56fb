/** Other tables that say something about the rows of this one. */
import { z } from 'zod';
import { nameSchema, tableRefSchema } from './names';
import { columnsSchema } from './source';

/** What a companion is there for. */
const PURPOSES = ['dead', 'archive', 'offsets', 'tasks', 'errors', 'instances', 'children', 'other'] as const;

/** A table beside the outbox, in its schema unless it names one; the name may hold what was captured: `offsets_{topic}`. */
export const companionSchema = z.strictObject({
  table: tableRefSchema,
  on: z.record(nameSchema, nameSchema).default({}).describe('Its column: the column of the outbox table it equals'),
  purpose: z.enum(PURPOSES),
  optional: z.boolean().optional().describe('Whatever needs it is left out where it does not exist'),
});

const namesSchema = z.union([nameSchema.transform((name) => [name]), z.array(nameSchema).min(1)]);

/** How far each reader has come: `{ companion: offsets, group: consumer_group, position: [offset], passed: [offset_acked] }`. */
export const cursorSchema = z.strictObject({
  companion: z.string().min(1),
  group: nameSchema.describe('Column of the companion that names the reader'),
  position: namesSchema.describe('Columns of the outbox table that order its rows'),
  passed: namesSchema.describe('Columns of the companion: done up to here'),
  taken: namesSchema.optional().describe('Columns of the companion: taken up to here'),
});

/**
 * The dead-letter table, in the schema of the outbox table unless it names its own; its rows are dead:
 * `{ table: outbox_dead, columns: { diedAt: died_at } }`. Roles left out are those of the outbox table. A moved row's columns
 * go by role, then by name; `map` says what neither gives: its column: the column of the outbox table.
 */
export const deadSchema = z.strictObject({
  table: tableRefSchema,
  columns: columnsSchema.default({}),
  map: z.record(nameSchema, nameSchema).optional().describe('Its column: the column of the outbox table it comes from'),
});
