import { fitTests } from '@/lib/outbox/indexes/index-fit';
import { BOTH, type Check } from '../check';
import { timeColumn } from '../facts/rows';
import { columnsFor, entriesOf, missingIndex, servedByAdvice, testsOf } from '../index-need';

/** No index leads to the rows a relay has taken: whoever looks for stuck ones reads the table. */
export const indexProcessingCheck: Check = {
  id: 'index_processing',
  engines: BOTH,
  examine(patient) {
    const { outbox, facts } = patient;
    const tests = testsOf(patient, ['processing']);
    const created = timeColumn(outbox.main, 'createdAt') ?? outbox.main.id[0]?.name;
    if (tests.length === 0 || created === undefined || fitTests(outbox.main, 'o', created, tests) !== null) return [];
    if (servedByAdvice(patient, tests, created)) return [];
    const wanted = { purpose: 'processing', columns: columnsFor(patient, tests, [created]), tests };
    return missingIndex(patient, facts.main, wanted, entriesOf(facts.main, tests));
  },
};
