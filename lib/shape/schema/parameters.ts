/** Facts about the relay that its table does not contain. */
import { z } from 'zod';

export const parameterName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write a parameter name: letters, digits and _');

/** A parameter of this shape only: `{ default: 86400, unit: s, what: 'How long rows are kept' }`; a used default is shown as assumed. */
export const extraParameterSchema = z.strictObject({
  default: z.union([z.number(), z.string()]),
  unit: z.enum(['s', 'count', 'text']).describe('s: seconds; count: a whole number; text'),
  what: z.string().min(1).describe('What it is, in one short line'),
});

/** Parameters of every shape, and under `extra` its own. */
export const parametersSchema = z
  .strictObject({
    maxAttempts: z.number().int().positive().optional().describe('Attempts after which the relay gives up'),
    stuckAfter: z.number().positive().optional().describe('Seconds after which a claim counts as stuck'),
    timeZone: z.string().default('UTC').describe('How zone-less times are to be read'),
    extra: z.record(parameterName, extraParameterSchema).optional().describe('Parameters of this shape alone'),
  })
  .default({ timeZone: 'UTC' });

/** A number, or a parameter that contains it: `300`, `{ parameter: lease }`. */
export const amountSchema = z.union([z.number(), z.strictObject({ parameter: parameterName })]);
export type Amount = z.infer<typeof amountSchema>;
