import { BOTH, type Check } from '../check';
import { nameOf } from '../trend';

/** No unique key: two rows can have one id, and no change can be sure to touch only one. */
export const uniqueIdCheck: Check = {
  id: 'unique_id',
  engines: BOTH,
  examine({ outbox, facts, cures }) {
    const id = outbox.main.roles.id;
    if (id === undefined || id.path.length > 0 || outbox.main.description.kind !== 'table') return [];
    const { name } = id.column;
    const unique = facts.main.indexes.some(
      (index) => index.unique && index.valid && index.predicate === null && index.columns.includes(name),
    );
    if (unique) return [];
    const cure = cures.createIndex(facts.main, { purpose: 'id', columns: [name], tests: [], unique: true });
    return [
      {
        severity: 'act',
        subject: name,
        values: { table: nameOf(facts.main), column: name, rows: facts.main.rows },
        ...(cure === null ? {} : { cure }),
      },
    ];
  },
};
