import { isLost, RESTART_MS } from '@/lib/outbox/slots';
import type { Check } from '../check';

/** Nobody is connected to the slot: what is written waits in the log, which grows until the disk is full. */
export const slotInactiveCheck: Check = {
  id: 'slot_inactive',
  engines: ['postgres'],
  examine: ({ facts: { slots } }) =>
    (slots?.found ?? [])
      .filter((slot) => !slot.active && !isLost(slot) && (slot.inactiveMs === null || slot.inactiveMs >= RESTART_MS))
      .map(({ name, plugin, inactiveMs, unconfirmedBytes, retainedBytes }) => ({
        severity: 'act',
        subject: name,
        values: { slot: name, plugin, inactiveMs, unconfirmedBytes, retainedBytes },
      })),
};
