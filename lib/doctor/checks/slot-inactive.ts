import { isLost } from '@/lib/outbox/slots';
import type { Check } from '../check';

/** A connector that is started anew is back within this. */
const RESTART_MS = 60_000;

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
