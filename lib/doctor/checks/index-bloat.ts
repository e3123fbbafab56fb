import type { Check } from '../check';
import { tablesOf } from '../facts/facts';

const WORTH_BYTES = 1_048_576;
/** Splits leave pages half full: an index of twice its best size is as it should be. */
const USUAL_SIZE = 2.5;
const DEFAULT_VALUE_BYTES = 16;
const LEAST_CHANGED = 1_000;
const CHANGED_SHARE = 0.2;
const PAGE_BYTES = 8_192;

/** An index far larger than its entries need: those of the rows that were published stay until vacuum takes them out. */
export const indexBloatCheck: Check = {
  id: 'index_bloat',
  engines: ['postgres'],
  examine: ({ facts, cures }) =>
    tablesOf(facts)
      // Entries were counted with the statistics: what was written since is in the size only.
      .filter(({ rows, vacuum }) => vacuum !== null && vacuum.changedSinceAnalyzed <= LEAST_CHANGED + CHANGED_SHARE * (rows ?? 0))
      .flatMap((table) =>
        table.indexes.flatMap((index) => {
          const { entries } = index;
          if (entries === null || index.method !== 'btree' || !index.valid || index.bytes < WORTH_BYTES || index.columns.includes(''))
            return [];
          const width = [...index.columns, ...index.included].reduce(
            (sum, name) => sum + (table.columns.get(name)?.averageBytes ?? DEFAULT_VALUE_BYTES),
            0,
          );
          const neededBytes = 2 * PAGE_BYTES + (entries * (width + cures.entryOverheadBytes + 4)) / 0.9;
          if (index.bytes < USUAL_SIZE * neededBytes) return [];
          const values = { index: index.name, bytes: index.bytes, neededBytes: Math.round(neededBytes), entries };
          return [{ severity: 'watch' as const, subject: index.name, values, cure: cures.rebuildIndex(table, index) }];
        }),
      ),
};
