/** Which replication slot belongs to this outbox, and its health, from what a reading saw of all slots. */
import { isLost, type SlotSeen, type SlotsSeen, type SlotSight } from './seen';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { SlotHealth } from '@/lib/shared/figures/slot-health';

/** Output plugins that connectors use; a slot with another plugin is for something else. */
const CONNECTOR_PLUGINS: readonly string[] = ['pgoutput', 'decoderbufs', 'wal2json'];

/** The outbox's slot; null with the reason if there is none, or several may be it. */
export type Chosen = { slot: SlotSeen; why: null } | { slot: null; why: UnavailableReason };

/** The configured slot, else the only one that a connector could read. A lost slot counts only if no other is left. */
export function chooseSlot({ wanted }: SlotSight, { standby, slots }: SlotsSeen): Chosen {
  // A promoted standby may still mark its own slots as synced.
  const own = standby ? slots.filter(({ synced }) => !synced) : slots;
  const candidates =
    wanted === null
      ? own.filter(({ temporary, plugin }) => !temporary && CONNECTOR_PLUGINS.includes(plugin))
      : own.filter(({ name }) => name === wanted);
  const living = candidates.filter((slot) => !isLost(slot));
  const [slot, ...others] = living.length > 0 ? living : candidates;
  if (slot === undefined) return { slot: null, why: standby ? 'slots_elsewhere' : 'slot_not_found' };
  return others.length > 0 ? { slot: null, why: 'several_slots' } : { slot, why: null };
}

/** The slot's health for a summary; null if the table's rows show what is published. */
export function slotHealth(sight: SlotSight | null, seen: SlotsSeen | null): SlotHealth | null {
  if (sight === null) return null;
  if (sight.why !== null || seen === null) return unknown(sight, sight.why ?? 'slots_hidden');
  const { slot, why } = chooseSlot(sight, seen);
  if (slot !== null) return healthOf(slot, sight.wanted === null);
  const health = unknown(sight, why);
  return why === 'slot_not_found' && sight.wanted !== null ? { ...health, known: 'exact', why: undefined, state: 'missing' } : health;
}

const NOTHING = { assumed: false, state: null, inactiveSince: null, lagBytes: null, heldBytes: null, safeBytes: null, walStatus: null };

const unknown = ({ wanted }: SlotSight, why: UnavailableReason): SlotHealth => ({ known: 'unavailable', why, name: wanted, ...NOTHING });

function healthOf(slot: SlotSeen, assumed: boolean): SlotHealth {
  const { name, inactiveSince: since, status: walStatus } = slot;
  const inactiveSince = since === null ? null : new Date(since).toISOString();
  const known = { ...NOTHING, known: 'exact', name, assumed, inactiveSince, walStatus } as const;
  // Nothing can be read from a lost slot, so its last positions mean nothing.
  if (isLost(slot)) return { ...known, state: 'lost' };
  const [heldBytes, safeBytes] = [bytes(slot.retainedBytes), bytes(slot.safeBytes)];
  return { ...known, state: slot.active ? 'active' : 'inactive', lagBytes: lagOf(slot), heldBytes, safeBytes };
}

/** The end of the log and the slot are read one after the other: the slot may have moved past that end. */
const bytes = (value: number | null): number | null => (value === null ? null : Math.max(0, value));
export const lagOf = ({ unconfirmedBytes }: SlotSeen): number | null => bytes(unconfirmedBytes);
