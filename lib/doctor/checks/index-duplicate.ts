import { BOTH, type Check } from '../check';
import { tablesOf, type IndexFacts } from '../facts/facts';

/** An index that another one begins with: whatever it serves, the other serves too. */
export const indexDuplicateCheck: Check = {
  id: 'index_duplicate',
  engines: BOTH,
  examine: ({ facts, cures }) =>
    tablesOf(facts).flatMap((table) =>
      table.indexes.flatMap((index) => {
        const other = table.indexes.find((one) => one !== index && covers(one, index));
        if (other === undefined) return [];
        const values = { index: index.name, other: other.name, bytes: index.bytes, scans: index.scans };
        return [{ severity: 'watch' as const, subject: index.name, values, cure: cures.dropIndex(table, index) }];
      }),
    ),
};

/** Of two that are the same, the one whose name comes later goes. */
function covers(one: IndexFacts, index: IndexFacts): boolean {
  if (!one.valid || !index.valid || index.unique || index.constraint || one.method !== index.method || one.predicate !== index.predicate)
    return false;
  if (
    index.columns.length === 0 ||
    index.columns.includes('') ||
    index.included.some((column) => !one.columns.includes(column) && !one.included.includes(column))
  )
    return false;
  if (!index.columns.every((column, at) => one.columns[at] === column)) return false;
  const sortings = (text: string): string[][] => text.split('|').map((part) => part.split(' '));
  if (!sortings(index.sorting).every((part, at) => part.every((value, column) => sortings(one.sorting)[at]?.[column] === value)))
    return false;
  return one.columns.length > index.columns.length || one.unique || one.name < index.name;
}
