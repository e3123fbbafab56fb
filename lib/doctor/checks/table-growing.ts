import { BOTH, DAY_MS, type Check } from '../check';
import { tablesOf } from '../facts/facts';
import { growthOf, nameOf } from '../trend';

const WORTH_BYTES = 32 * 1_048_576;
/** It is half as large again within a fortnight. */
const SOON_MS = 14 * DAY_MS;

/** Table and indexes grow faster than anything takes out of them. */
export const tableGrowingCheck: Check = {
  id: 'table_growing',
  engines: BOTH,
  examine: ({ facts, trend, now }) =>
    tablesOf(facts).flatMap((table) => {
      const bytes = table.tableBytes + table.indexBytes;
      const growth = growthOf(table, trend, now);
      // Most of what there is came since the doctor watches: a young table grows, and that is all.
      if (growth === null || growth.overMs < 3 * DAY_MS || bytes < WORTH_BYTES || growth.bytesPerDay * SOON_MS < (bytes / 2) * DAY_MS)
        return [];
      const values = {
        table: nameOf(table),
        bytes,
        growthBytesPerDay: growth.bytesPerDay,
        overMs: growth.overMs,
        inThirtyDaysBytes: bytes + 30 * growth.bytesPerDay,
      };
      return [{ severity: 'watch' as const, subject: nameOf(table), values }];
    }),
};
