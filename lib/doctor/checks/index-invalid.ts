import type { Check } from '../check';
import { tablesOf } from '../facts/facts';

/** An index whose building failed: it is kept up with every write and serves nobody. */
export const indexInvalidCheck: Check = {
  id: 'index_invalid',
  engines: ['postgres'],
  examine: ({ facts, cures }) =>
    tablesOf(facts).flatMap((table) =>
      // One that is being built is not valid yet.
      table.indexes
        .filter(({ valid }) => !valid && !table.busy)
        .map((index) => ({
          severity: 'watch',
          subject: index.name,
          values: { index: index.name, bytes: index.bytes },
          cure: cures.dropIndex(table, index),
        })),
    ),
};
