import type { Metric } from '../metric';
import { textOf, type Reading } from '@/lib/live/reading';
import { earliest, isState, iso } from '@/lib/outbox/scan/sql-terms';

/** Since when the longest waiting event waits. */
export const oldestPendingMetric: Metric = {
  id: 'oldest-pending',
  unit: 'time',
  help: 'Creation time of the oldest event that is pending or retrying.',
  figures: ({ state, created }) => ({ at: iso(earliest(created, isState(state, 'pending', 'retrying'))) }),
  summary: ({ reading }) => ({ oldestPendingAt: oldest(reading) }),
  plots({ observed: { reading, span }, steps }) {
    const ages = steps.map(({ cell }) => {
      const age = cell?.depth?.oldestAgeMaxMs ?? -1;
      return age < 0 ? null : age;
    });
    const at = oldest(reading);
    if (span.live && at !== null) ages[ages.length - 1] = Math.max(0, Date.parse(reading.asOf) - Date.parse(at));
    return { oldestAgeMs: { known: ages.every((age) => age === null) ? 'unavailable' : 'sampled', values: ages } };
  },
};

/** Of rows cut short in no particular order, the oldest read need not be the oldest there is. */
const oldest = (reading: Reading): string | null =>
  reading.reach.waiting === 'cut' && !reading.ordered.waiting ? null : textOf(reading, 'oldest-pending', 'at');
