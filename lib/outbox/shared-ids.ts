import type { MappingProblem } from './binding/problems';
import { namesNoRow } from './binding/bound-shape';
import type { Place } from './outbox';

/**
 * An id that several rows may share, so that they would be taken for each other: of a table that has a key, and where nothing
 * makes the id unique. Said at the start alone: a key that is dropped later is the doctor's matter.
 */
export function sharedIds({ id, description }: Place): MappingProblem[] {
  const names = new Set(id.map(({ name }) => name));
  // A column that is no id by its type is in a key for the sake of partitions.
  const usable = (name: string): boolean => {
    const column = description.columns.get(name);
    return column !== undefined && !namesNoRow(column);
  };
  const keys = description.indexes
    .filter(({ unique, predicate }) => unique && predicate === null)
    .map(({ columns }) => columns.filter(usable))
    .filter((columns) => columns.length > 0);
  const [key] = keys;
  if (names.size === 0 || description.kind !== 'table' || key === undefined) return [];
  if (keys.some((columns) => columns.every((column) => names.has(column)))) return [];
  const written = [...names].map((name) => `"${name}"`).join(', ');
  const message = `nothing makes ${written} unique, and rows would be taken for each other: the table's key is ${key.join(', ')}`;
  return [{ path: ['shape', 'columns', 'id'], message }];
}
