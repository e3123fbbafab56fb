import { BOTH, type Check } from '../check';

/** Events are delivered at least once: the key by which their readers know a repeat is missing, or can be there twice. */
export const dedupKeyCheck: Check = {
  id: 'dedup_key',
  engines: BOTH,
  examine({ outbox, facts, cures }) {
    const { dedupKey } = outbox.main.roles;
    const [id] = outbox.main.id;
    if (dedupKey === undefined) {
      // A built-in shape without one is how its library works: its readers go by the id. A table of one's own can have one.
      return outbox.settings.inline && id?.kind === 'integer' ? [{ severity: 'note', values: { column: null, id: id.name } }] : [];
    }
    if (dedupKey.path.length > 0 || dedupKey.column.name === id?.name) return [];
    const { name } = dedupKey.column;
    if (facts.main.indexes.some((index) => index.unique && index.valid && index.predicate === null && index.columns.includes(name)))
      return [];
    const cure = cures.createIndex(facts.main, { purpose: 'dedup', columns: [name], tests: [], unique: true });
    return [{ severity: 'watch', subject: name, values: { column: name, id: id?.name ?? null }, ...(cure === null ? {} : { cure }) }];
  },
};
