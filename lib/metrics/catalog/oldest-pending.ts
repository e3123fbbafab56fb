import type { Metric } from '../metric';
import { textOf } from '../reading';
import { earliest, isState, iso } from '../spelling';

/** Since when the longest waiting event waits. */
export const oldestPendingMetric: Metric = {
  id: 'oldest-pending',
  unit: 'time',
  help: 'Creation time of the oldest event that is pending or retrying.',
  figures: ({ state, created }) => ({ at: iso(earliest(created, isState(state, 'pending', 'retrying'))) }),
  summary: (reading) => ({
    // Of rows cut short in no particular order, the oldest read need not be the oldest there is.
    oldestPendingAt: reading.reach.waiting === 'cut' && !reading.ordered.waiting ? null : textOf(reading, 'oldest-pending', 'at'),
  }),
};
