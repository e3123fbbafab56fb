/** Replication slots of PostgreSQL: those through which relays read the log, and what any of them keeps of the catalogue. */
import { isLost, RESTART_MS } from '@/lib/outbox/replication-slots/seen';
import type { Checks, Found } from './check';
import type { Facts } from './facts/facts';

const MUCH_BYTES = 1_000_000_000;
const GRAVE_BYTES = 10_000_000_000;
const MANY_TRANSACTIONS = 10_000_000;
/** Half of autovacuum_freeze_max_age's default: at that age the server vacuums against wraparound, which then frees nothing. */
const GRAVE_TRANSACTIONS = 100_000_000;

interface SlotInput {
  facts: Pick<Facts, 'slots' | 'catalogueHolders'>;
}

export const SLOT_CHECKS = {
  /** No replication slot reads this database, or not the one that is named: events are written, and nothing reads them. */
  slot_missing({ facts: { slots } }: SlotInput): Found[] {
    // A standby has slots of its own, and does not show those of its primary.
    if (slots === null || slots.standby || slots.found.length > 0) return [];
    return [{ severity: 'act', values: { slot: slots.wanted } }];
  },
  /** No reader is connected to the slot: what is written waits in the log, which grows until the disk is full. */
  slot_inactive({ facts: { slots } }: SlotInput): Found[] {
    return (slots?.found ?? [])
      .filter((slot) => !slot.active && !isLost(slot) && (slot.inactiveMs === null || slot.inactiveMs >= RESTART_MS))
      .map(({ name: slot, plugin, inactiveMs, unconfirmedBytes, retainedBytes }) => {
        return { severity: 'act', subject: slot, values: { slot, plugin, inactiveMs, unconfirmedBytes, retainedBytes } };
      });
  },
  /** The slot keeps so much of the log that the disk may run full, or the server may invalidate the slot. */
  slot_holds_wal({ facts: { slots } }: SlotInput): Found[] {
    return (slots?.found ?? []).flatMap((slot) => {
      const { name, plugin, status, retainedBytes, unconfirmedBytes } = slot;
      // The server's word for log that it removes at its next checkpoint.
      const endangered = status === 'unreserved';
      if (isLost(slot) || retainedBytes === null || (retainedBytes < MUCH_BYTES && !endangered)) return [];
      const values = { slot: name, plugin, status, retainedBytes, unconfirmedBytes };
      return [{ severity: endangered || retainedBytes >= GRAVE_BYTES ? 'act' : 'watch', subject: name, values }];
    });
  },
  /** The server removed log that the slot still needed: what was written there is never sent. */
  slot_lost({ facts: { slots } }: SlotInput): Found[] {
    return (slots?.found ?? []).filter(isLost).map(({ name: slot, plugin, status, invalidated, drop: cure }) => {
      return { severity: 'act', subject: slot, values: { slot, plugin, reason: invalidated ?? status }, cure };
    });
  },
  /** A slot that confirms nothing keeps old row versions of the server's catalogue, whatever happens to the tables' rows. */
  slot_catalogue({ facts: { catalogueHolders, slots } }: SlotInput): Found[] {
    // The outbox's own slot without a reader is slot_inactive's.
    const others = catalogueHolders.filter(({ slot, active }) => active || !slots?.found.some(({ name }) => name === slot));
    const old = others.filter(({ transactions }) => transactions >= MANY_TRANSACTIONS);
    return old.map(({ slot, database, active, transactions, drop }) => {
      const severity = transactions >= GRAVE_TRANSACTIONS ? 'act' : 'watch';
      const values = { slot, database, state: active ? 'active' : 'inactive', transactions };
      return { severity, subject: slot, values, cure: active ? null : drop };
    });
  },
} satisfies Checks;
