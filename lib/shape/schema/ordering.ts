/** Which events wait for which, and what shows that a relay holds a row. */
import { z } from 'zod';
import { nameSchema } from './names';
import { parameterName } from './parameters';
import { liveStateSchema } from './state';

/**
 * Events of one key are sent one after the other, and an earlier one in these states holds the later ones up:
 * `{ key: aggregateId, by: createdAt, blockedBy: [pending, retrying] }`. `key` is a role, a column or several columns.
 */
export const orderingSchema = z.strictObject({
  key: z.union([nameSchema, z.array(nameSchema).min(1)]).describe('A role, a column, or several columns'),
  by: z.enum(['sequence', 'createdAt']).default('createdAt'),
  blockedBy: z.array(liveStateSchema).default([]).describe('States of an earlier event that hold later ones up'),
});

/**
 * How a relay marks what it has taken: `{ visible: true, leaseSeconds: lease }`. `visible: false` where it holds a row lock
 * only, so that no row is ever seen as processing.
 */
export const claimSchema = z.strictObject({
  visible: z.boolean(),
  leaseSeconds: parameterName.optional().describe('The parameter that says how long a claim holds'),
});
