import { BOTH, DAY_MS, type Check } from '../check';

const FORGOTTEN_MS = 30 * DAY_MS;

/** Dead events nobody has dealt with for a month: no relay takes them and nothing removes them. */
export const deadForgottenCheck: Check = {
  id: 'dead_forgotten',
  engines: BOTH,
  examine({ facts }) {
    const { dead } = facts.rows;
    if (dead === null || dead.count === 0 || dead.oldestMs === null || dead.oldestMs < FORGOTTEN_MS) return [];
    return [{ severity: 'note', values: { events: dead.count, oldestMs: dead.oldestMs } }];
  },
};
