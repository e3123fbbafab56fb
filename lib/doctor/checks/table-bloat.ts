import { BOTH, type Check } from '../check';
import { tablesOf, type TableFacts } from '../facts/facts';
import { AHEAD_BYTES } from '../facts/mysql-tablespace';
import { nameOf } from '../trend';

const WORTH_BYTES = 8 * 1_048_576;
/** More than half of it empty: what a queue leaves behind after a long backlog. */
const EMPTY_SHARE = 0.6;

/** A table that is mostly empty pages: whoever reads it whole, or walks it, reads those too. */
export const tableBloatCheck: Check = {
  id: 'table_bloat',
  engines: BOTH,
  examine: ({ facts, cures }) =>
    tablesOf(facts).flatMap((table) => {
      const { rows } = table;
      const size = sizeOf(table);
      if (rows === null || size === null || size.bytes < WORTH_BYTES || size.emptyBytes < EMPTY_SHARE * size.bytes) return [];
      const values = {
        table: nameOf(table),
        bytes: size.bytes,
        emptyBytes: Math.round(size.emptyBytes),
        emptyShare: size.emptyBytes / size.bytes,
        rows,
      };
      return [{ severity: 'watch' as const, subject: nameOf(table), values, cure: cures.rewrite(table) }];
    }),
};

/** What the table takes and what of it is empty: told by the server, or from the rows that were counted. */
function sizeOf({
  rows,
  rowBytes,
  heapBytes,
  freeBytes,
  vacuum,
  tableBytes,
  indexBytes,
  storage,
}: TableFacts): { bytes: number; emptyBytes: number } | null {
  // A storage engine of another kind tells what its whole file could still grow by.
  if (freeBytes !== null)
    return storage?.transactional === true && freeBytes >= AHEAD_BYTES
      ? { bytes: tableBytes + indexBytes + freeBytes, emptyBytes: freeBytes }
      : null;
  if (rows === null || rowBytes === null || vacuum === null || vacuum.uncounted) return null;
  // Dead rows are not empty yet: it is vacuum that has to come for them.
  return { bytes: heapBytes, emptyBytes: heapBytes - ((rows + vacuum.deadRows) * rowBytes * 100) / vacuum.fillfactor };
}
