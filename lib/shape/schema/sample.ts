/** A table and rows to prove a built-in shape with. */
import { z } from 'zod';
import { scalarSchema } from './condition';
import { nameSchema, tableRefSchema } from './names';
import { liveStateSchema } from './state';

const cell = z.union([scalarSchema, z.null(), z.record(z.string(), z.unknown()), z.array(z.unknown())]);

/** DDL and six rows to prove the mapping with: one per state it can show, the rest at its edges. Rows of companions are inserted by the DDL. */
export const sampleSchema = z.strictObject({
  ddl: z.partialRecord(z.enum(['postgres', 'mysql']), z.array(z.string())),
  /** What the DDL calls the table where an engine has another name for it than the shape. */
  table: z.partialRecord(z.enum(['postgres', 'mysql']), tableRefSchema).optional(),
  rows: z
    // Where the table shows no state at all, no rule gives a row one.
    .array(
      z.strictObject({
        state: z.union([liveStateSchema, z.literal('unmapped')]),
        in: z.enum(['main', 'dead']).default('main'),
        values: z.record(nameSchema, cell),
      }),
    )
    .min(6),
});
