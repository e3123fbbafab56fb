import type { Check } from '../check';
import { tablesOf } from '../facts/facts';
import { nameOf } from '../trend';

const LEAST_BYTES = 1_048_576;
const LEAST_CHANGED = 50_000;
const BEHIND = 5;

/** The planner knows nothing of the table, or what it was long ago: it may read it whole beside a good index. */
export const statisticsOldCheck: Check = {
  id: 'statistics_old',
  engines: ['postgres'],
  examine: ({ facts, cures }) =>
    tablesOf(facts).flatMap((table) => {
      const { vacuum } = table;
      if (vacuum === null) return [];
      // What was loaded just now, a restored table too, is counted within a minute, where somebody comes to do so.
      const comes = vacuum.enabled && vacuum.switchedOff.length === 0 && vacuum.changedSinceAnalyzed >= vacuum.analyzesAtRows;
      const never = vacuum.uncounted && !comes && table.heapBytes >= LEAST_BYTES;
      const old = vacuum.changedSinceAnalyzed >= LEAST_CHANGED && vacuum.changedSinceAnalyzed >= BEHIND * vacuum.analyzesAtRows;
      if (!never && !old) return [];
      const values = { table: nameOf(table), changedRows: vacuum.changedSinceAnalyzed, analyzedAt: vacuum.analyzedAt };
      return [{ severity: 'watch' as const, subject: nameOf(table), values, cure: cures.analyze(table) }];
    }),
};
