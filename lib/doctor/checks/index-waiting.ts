import { fitTests } from '@/lib/outbox/index-fit';
import { waitingIndex } from '@/lib/outbox/wanted-index';
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
    if (fit !== null && fit.ordered) return [];
    const entries = facts.rows.waiting?.looked ?? entriesOf(facts.main, tests);
    return missingIndex(patient, facts.main, waitingIndex(outbox.database.engine, tests, created), entries);
  },
};
