import { BOTH, type Check } from '../check';
import { nameOf } from '../trend';

/** No unique key: two rows can have one id, and no change can be sure to touch only one. */
export const uniqueIdCheck: Check = {
  id: 'unique_id',
  engines: BOTH,
  examine({ outbox, facts, cures }) {
    const names = outbox.main.id.map((column) => column.name);
    if (names.length === 0 || outbox.main.description.kind !== 'table') return [];
    const unique = facts.main.indexes.some(
      (index) => index.unique && index.valid && index.predicate === null && names.some((name) => index.columns.includes(name)),
    );
    if (unique) return [];
    // The parts of a partitioned table share no unique key without what tells them apart.
    const columns = [...new Set([...names, ...(outbox.main.description.partitions?.key ?? [])])];
    const cure = columns.includes('') ? null : cures.createIndex(facts.main, { purpose: 'id', columns, tests: [], unique: true });
    return [
      {
        severity: 'act',
        subject: names.join(', '),
        values: { table: nameOf(facts.main), column: names.join(', '), rows: facts.main.rows },
        ...(cure === null ? {} : { cure }),
      },
    ];
  },
};
