import { fitTests, fixes, holds } from '@/lib/outbox/indexes/index-fit';
import type { Outbox } from '@/lib/outbox/outbox';
import { waitingIndex, type IndexTest } from '@/lib/outbox/indexes/wanted-index';
import { BOTH, type Check } from '../check';
import { timeColumn } from '../facts/rows';
import { entriesOf, missingIndex, testsOf } from '../index-need';

const STATES = ['pending', 'retrying'] as const;

/** No index leads to the rows that wait: each claim and each figure reads the table. */
export const indexWaitingCheck: Check = {
  id: 'index_waiting',
  engines: BOTH,
  examine(patient) {
    const { outbox, facts } = patient;
    const tests = testsOf(patient, STATES);
    const created = timeColumn(outbox.main, 'createdAt') ?? outbox.main.id[0]?.name;
    if (tests.length === 0 || created === undefined) return [];
    const fit = fitTests(outbox.main, 'o', created, tests);
    if ((fit !== null && fit.ordered) || leadsAnotherWay(outbox, tests)) return [];
    const entries = facts.rows.waiting?.looked ?? entriesOf(facts.main, tests);
    return missingIndex(patient, facts.main, waitingIndex(outbox.database.engine, tests, created), entries);
  },
};

/**
 * An index that holds or finds the waiting rows alone and has them in another order that relays claim by: the key, the time
 * from which they may be tried, a priority. What they are about or called is none.
 */
function leadsAnotherWay({ database, main }: Outbox, tests: readonly IndexTest[]): boolean {
  const about = (['type', 'topic', 'aggregateType'] as const).map((role) => main.roles[role]?.column.name);
  const asked = new Set(tests.map(({ column }) => column));
  const single = (column: string | undefined): boolean => tests.some((test) => test.column === column && fixes(test));
  return main.description.indexes.some(({ columns, sorted, predicate }) => {
    if (sorted.length === 0 || !holds(predicate, [...tests])) return false;
    const leading = columns.findIndex((column) => (predicate === null ? !single(column) : !asked.has(column)));
    const order = leading < 0 ? undefined : columns[leading];
    if (predicate === null && !single(columns[0])) return false;
    // InnoDB's entries end with the key, in whose order rows of one value are then found.
    if (order === undefined) return database.engine.key === 'mysql' && main.id.length === 1 && main.id[0]?.kind === 'integer';
    return !asked.has(order) && !about.includes(order);
  });
}
