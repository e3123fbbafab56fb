/** Which state a row is in, which events wait for which, and what shows that a relay holds a row. */
import { LIVE_STATES } from '@/lib/shared/states';
import { z } from 'zod';
import { conditionSchema } from './condition';
import { nameSchema } from './names';
import { parameterName } from './parameters';

/** How a table shows that an event is out; worked out from the states where it is not written. */
export const KINDS = ['status', 'timestamp', 'flag', 'presence', 'cursor', 'child', 'external'] as const;
export type Kind = (typeof KINDS)[number];

export const liveStateSchema = z.enum(LIVE_STATES);

/** The first rule that fits gives the state. `label` is the library's own word: `{ state: dead, label: cancelled, when: … }`. */
export const stateRuleSchema = z.strictObject({
  state: liveStateSchema,
  when: conditionSchema,
  label: z.string().min(1).max(40).optional().describe("The library's own word for it"),
});

/** An earlier event of a key in one of `blockedBy` holds later ones up; `key` is a role, a column or several columns. */
export const orderingSchema = z.strictObject({
  key: z.union([nameSchema, z.array(nameSchema).min(1)]).describe('A role, a column, or several columns'),
  by: z.enum(['sequence', 'createdAt']).default('createdAt'),
  blockedBy: z.array(liveStateSchema).default([]).describe('States of an earlier event that hold later ones up'),
});

/** `visible: false` where a relay holds a row lock only, so that no row is ever seen as processing. */
export const claimSchema = z.strictObject({
  visible: z.boolean(),
  leaseSeconds: parameterName.optional().describe('The parameter that says how long a claim holds'),
});
