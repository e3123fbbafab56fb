import { isLost } from '@/lib/outbox/slots';
import type { Check } from '../check';

const MUCH_BYTES = 1_000_000_000;
const GRAVE_BYTES = 10_000_000_000;

/** The slot keeps so much of the log that the disk may run full, or the server may give the slot up. */
export const slotHoldsWalCheck: Check = {
  id: 'slot_holds_wal',
  engines: ['postgres'],
  examine: ({ facts: { slots } }) =>
    (slots?.found ?? []).flatMap((slot) => {
      const { name, plugin, status, retainedBytes, unconfirmedBytes } = slot;
      // The server's own word for what it takes away at its next checkpoint.
      const endangered = status === 'unreserved';
      if (isLost(slot) || retainedBytes === null || (retainedBytes < MUCH_BYTES && !endangered)) return [];
      return [
        {
          severity: endangered || retainedBytes >= GRAVE_BYTES ? ('act' as const) : ('watch' as const),
          subject: name,
          values: { slot: name, plugin, status, retainedBytes, unconfirmedBytes },
        },
      ];
    }),
};
