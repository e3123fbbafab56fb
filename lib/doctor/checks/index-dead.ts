import { fitTests, fitWalk } from '@/lib/outbox/indexes/index-fit';
import { BOTH, type Check } from '../check';
import { timeColumn } from '../facts/rows';
import { columnsFor, entriesOf, missingIndex, servedByAdvice, testsOf } from '../index-need';

/** No index leads to dead events: among the others, or in a large table of their own. */
export const indexDeadCheck: Check = {
  id: 'index_dead',
  engines: BOTH,
  examine(patient) {
    const { outbox, facts } = patient;
    const id = outbox.main.id[0]?.name;
    if (outbox.dead !== null && facts.dead !== null) {
      const since = timeColumn(outbox.dead, 'diedAt') ?? timeColumn(outbox.dead, 'createdAt');
      if (since === null || fitWalk(outbox.dead, since, [], false) !== null) return [];
      const columns = [since, ...(id === undefined ? [] : [id])];
      return missingIndex(patient, facts.dead, { purpose: 'died', columns, tests: [] }, facts.dead.rows ?? 0);
    }
    const tests = testsOf(patient, ['dead']);
    const created = timeColumn(outbox.main, 'createdAt');
    if (tests.length === 0 || id === undefined || fitTests(outbox.main, 'o', created, tests) !== null) return [];
    if (servedByAdvice(patient, tests, created ?? id)) return [];
    const columns = columnsFor(patient, tests, [...(created === null ? [] : [created]), id]);
    return missingIndex(patient, facts.main, { purpose: 'dead', columns, tests }, facts.rows.dead?.count ?? entriesOf(facts.main, tests));
  },
};
