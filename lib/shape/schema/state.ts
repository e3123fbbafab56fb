/** Which state a row is in. */
import { z } from 'zod';
import { LIVE_STATES } from '@/lib/shared/states';
import { conditionSchema } from './condition';

/** How a table shows that an event is out; worked out from the states where it is not said. */
export const KINDS = ['status', 'timestamp', 'flag', 'presence', 'cursor', 'child', 'external'] as const;
export type Kind = (typeof KINDS)[number];

export const liveStateSchema = z.enum(LIVE_STATES);

/**
 * The first rule that fits gives the state: `{ state: retrying, when: { column: attempts, above: 0 } }`. `label` is the
 * library's own word where several of its states are one of the console's: `{ state: dead, label: cancelled, when: … }`.
 */
export const stateRuleSchema = z.strictObject({
  state: liveStateSchema,
  when: conditionSchema,
  label: z.string().min(1).max(40).optional().describe("The library's own word for it"),
});
