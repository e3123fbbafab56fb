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

/** Whether `one` does all that `index` is there for. Of two that are the same, the one behind a constraint stays, then a unique one, then by name. */
function covers(one: IndexFacts, index: IndexFacts): boolean {
  if (!one.valid || !index.valid || index.constraint || one.method !== index.method || one.predicate !== index.predicate) return false;
  const stays = rank(one) < rank(index);
  if (index.columns.includes('')) return stays && one.unique === index.unique && body(one) === body(index);
  // A unique key is kept by the same one only.
  if (index.unique && !(one.unique && one.columns.length === index.columns.length && nullsAlike(one) === nullsAlike(index))) return false;
  if (index.columns.length === 0 || index.included.some((column) => !one.columns.includes(column) && !one.included.includes(column)))
    return false;
  if (!index.columns.every((column, at) => one.columns[at] === column)) return false;
  const sortings = (text: string): string[][] => text.split('|').map((part) => part.split(' '));
  if (!sortings(index.sorting).every((part, at) => part.every((value, column) => sortings(one.sorting)[at]?.[column] === value)))
    return false;
  return one.columns.length > index.columns.length || stays;
}

const rank = ({ constraint, unique, name }: IndexFacts): string => `${constraint ? 0 : 1}${unique ? 0 : 1}${name}`;
const nullsAlike = ({ definition }: IndexFacts): boolean => / NULLS NOT DISTINCT/.test(definition);

/** What an index is made of, without its name. */
function body({ definition, name }: IndexFacts): string {
  const using = definition.indexOf(' USING ');
  return using >= 0 ? definition.slice(using) : definition.slice(definition.indexOf(` ${name} `) + name.length + 2);
}
