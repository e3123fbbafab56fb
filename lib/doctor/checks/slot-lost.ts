import { isLost } from '@/lib/outbox/slots';
import type { Check } from '../check';

/** The server took away log that the slot still needed: what was written there is sent by nobody any more. */
export const slotLostCheck: Check = {
  id: 'slot_lost',
  engines: ['postgres'],
  examine: ({ outbox, facts: { slots } }) =>
    (slots?.found ?? []).filter(isLost).map(({ name, plugin, status, invalidated }) => ({
      severity: 'act',
      subject: name,
      values: { slot: name, plugin, reason: invalidated ?? status },
      cure: `SELECT pg_drop_replication_slot(${outbox.database.engine.quote.literal(name)});`,
    })),
};
