import type { Check } from '../check';

/** No replication slot reads this database, or not the one that is named: events are written, and nothing takes them. */
export const slotMissingCheck: Check = {
  id: 'slot_missing',
  engines: ['postgres'],
  examine({ facts: { slots } }) {
    // A standby has slots of its own; those of its primary do not show there.
    if (slots === null || slots.standby || slots.found.length > 0) return [];
    return [{ severity: 'act', values: { slot: slots.wanted } }];
  },
};
