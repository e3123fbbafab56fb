import type { Metric } from '../metric';
import { slotHealth, SLOT_FIGURE, SLOT_OWNER } from '../slot-choice';

/** How far the reader of the database's log has come, where the table does not tell. */
export const replicationSlotMetric: Metric = {
  id: SLOT_OWNER,
  unit: 'bytes',
  help: 'Log that the reader of the replication slot has not confirmed, that the server keeps for it, and whether anybody is connected.',
  figures: ({ slots }) => (slots === null ? undefined : { [SLOT_FIGURE]: slots }),
  summary: ({ reading }) => ({ slot: slotHealth(reading.traits.slots, reading) }),
};
