/** Which replication slot is this outbox's, and how it is: from what a reading saw of all of them. */
import { isLost, type SlotSeen, type SlotsSeen, type SlotSight } from './seen';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { SlotHealth } from '@/lib/shared/figures/slot-health';

/** What connectors have the log written out with: a slot of another plugin is somebody else's. */
const CONNECTOR_PLUGINS: readonly string[] = ['pgoutput', 'decoderbufs', 'wal2json'];

/** The slot of the outbox; null with the reason where there is none, or nobody can tell which. */
export type Chosen = { slot: SlotSeen; why: null } | { slot: null; why: UnavailableReason };

/** The slot that is configured, else the only one a connector could read. One that is lost counts where no other is left. */
export function chooseSlot({ wanted }: SlotSight, { standby, slots }: SlotsSeen): Chosen {
  // One that was promoted since may still call its slots copies.
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

/** What a summary says of it; null where the rows tell what is out. */
export function slotHealth(sight: SlotSight | null, seen: SlotsSeen | null): SlotHealth | null {
  if (sight === null) return null;
  if (sight.why !== null || seen === null) return unknown(sight, sight.why ?? 'slots_hidden');
  const { slot, why } = chooseSlot(sight, seen);
  if (slot !== null) return healthOf(slot, sight.wanted === null);
  const health = unknown(sight, why);
  return why === 'slot_not_found' && sight.wanted !== null ? { ...health, known: 'exact', why: undefined, state: 'missing' } : health;
}

const unknown = ({ wanted }: SlotSight, why: UnavailableReason): SlotHealth => ({
  known: 'unavailable',
  why,
  name: wanted,
  assumed: false,
  state: null,
  inactiveSince: null,
  lagBytes: null,
  heldBytes: null,
  safeBytes: null,
  walStatus: null,
});

function healthOf(slot: SlotSeen, assumed: boolean): SlotHealth {
  const lost = isLost(slot);
  return {
    known: 'exact',
    name: slot.name,
    assumed,
    state: lost ? 'lost' : slot.active ? 'active' : 'inactive',
    inactiveSince: slot.inactiveSince === null ? null : new Date(slot.inactiveSince).toISOString(),
    // What was confirmed before is no measure of a slot that nothing can be read from.
    lagBytes: lost ? null : bytes(slot.unconfirmedBytes),
    heldBytes: lost ? null : bytes(slot.retainedBytes),
    safeBytes: lost ? null : bytes(slot.safeBytes),
    walStatus: slot.status,
  };
}

/** The end of the log and the slot are read one after the other: it may have come further meanwhile. */
const bytes = (value: number | null): number | null => (value === null ? null : Math.max(0, value));
