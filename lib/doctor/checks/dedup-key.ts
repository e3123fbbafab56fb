import { BOTH, type Check } from '../check';
import type { IndexFacts } from '../facts/facts';

/** Events are delivered at least once: the key by which their readers know a repeat is missing, or can be there twice. */
export const dedupKeyCheck: Check = {
  id: 'dedup_key',
  engines: BOTH,
  examine({ outbox, facts, cures }) {
    const { dedupKey } = outbox.main.roles;
    const [id] = outbox.main.id;
    if (outbox.main.description.kind !== 'table') return [];
    if (dedupKey === undefined) {
      // A built-in shape without one is how its library works: its readers go by the id. A table of one's own can have one.
      return outbox.settings.inline && id?.kind === 'integer' ? [{ severity: 'note', values: { column: null, id: id.name } }] : [];
    }
    if (dedupKey.path.length > 0 || dedupKey.column.name === id?.name) return [];
    const { name } = dedupKey.column;
    // Together with what differs from row to row, a key may be there as often as one likes.
    const anew = new Set([...outbox.main.id.map((column) => column.name), outbox.main.roles.createdAt?.column.name]);
    const keeps = ({ unique, valid, predicate, columns }: IndexFacts): boolean =>
      unique &&
      valid &&
      predicate === null &&
      columns.includes(name) &&
      (columns.length === 1 || !columns.some((column) => column !== name && anew.has(column)));
    if (facts.main.indexes.some(keeps)) return [];
    const cure = cures.createIndex(facts.main, { purpose: 'dedup', columns: [name], tests: [], unique: true });
    return [{ severity: 'watch', subject: name, values: { column: name, id: id?.name ?? null }, ...(cure === null ? {} : { cure }) }];
  },
};
