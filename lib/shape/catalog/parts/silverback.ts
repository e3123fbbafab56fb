/** What both stores of Silverback's outbox have in common: one worker sends in order and deletes what is out. */
import type { ShapeInput } from '../../shape';
import { refused } from '../../define';

export const SILVERBACK = {
  kind: 'presence',
  states: [{ state: 'pending', when: { always: true } }],
  claim: { visible: false },
  operations: refused({ retry: 'relay_retries_at_once', requeue: 'no_dead_letters', release: 'claim_is_a_lock' }),
  // The cure for a message that cannot be sent: with order enforced, everything waits behind it.
  archive: { from: ['pending'], warnings: ['relay_may_be_sending'] },
  payload: { encoding: 'bytes' },
} satisfies Partial<ShapeInput>;
