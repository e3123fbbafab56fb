import type { Check } from '../check';
import { tablesOf } from '../facts/facts';
import { nameOf } from '../trend';

const WORTH_BYTES = 8 * 1_048_576;
/** More than half of it empty: what a queue leaves behind after a long backlog. */
const EMPTY_SHARE = 0.6;

/** A table that is mostly empty pages: whoever reads it whole, or walks it, reads those too. */
export const tableBloatCheck: Check = {
  id: 'table_bloat',
  engines: ['postgres'],
  examine: ({ facts, cures }) =>
    tablesOf(facts).flatMap((table) => {
      const { rows, rowBytes, heapBytes, vacuum } = table;
      if (rows === null || rowBytes === null || vacuum === null || vacuum.uncounted || heapBytes < WORTH_BYTES) return [];
      // Dead rows are not empty yet: it is vacuum that has to come for them.
      const neededBytes = ((rows + vacuum.deadRows) * rowBytes * 100) / vacuum.fillfactor;
      const emptyShare = 1 - neededBytes / heapBytes;
      if (emptyShare < EMPTY_SHARE) return [];
      const values = { table: nameOf(table), bytes: heapBytes, emptyBytes: Math.round(heapBytes - neededBytes), emptyShare, rows };
      return [{ severity: 'watch' as const, subject: nameOf(table), values, cure: cures.rewrite(table) }];
    }),
};
