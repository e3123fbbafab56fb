/** What Axon's sequenced dead-letter queue has in common however it is stored. Every row is dead; only the application can process it. */
import type { ShapeInput } from '../../shape';
import { refused } from '../../define';

export const AXON = {
  family: 'dead_letters',
  kind: 'presence',
  parameters: { extra: { claimDuration: { default: 30, unit: 's', what: 'How long a letter is claimed for' } } },
  claim: { visible: true, leaseSeconds: 'claimDuration' },
  operations: refused({ retry: 'app_must_resubmit', requeue: 'app_must_resubmit', release: 'claim_lapses' }),
  noArchive: 'sequence_would_tear',
  payload: { encoding: 'bytes', warn: 'binary_envelope' },
} satisfies Partial<ShapeInput>;

/** Claimed by the application, and not for too long. */
export function axonStates(claimedAt: string): ShapeInput['states'] {
  return [
    {
      state: 'processing',
      label: 'claimed',
      when: { all: [{ column: claimedAt, isNull: false }, { not: { column: claimedAt, olderThan: { parameter: 'claimDuration' } } }] },
    },
    { state: 'dead', when: { always: true } },
  ];
}
