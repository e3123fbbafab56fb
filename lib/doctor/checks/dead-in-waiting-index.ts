import { holds } from '@/lib/outbox/index-fit';
import { commonTests, disjoint } from '@/lib/outbox/conditions';
import type { Check } from '../check';
import { timeColumn } from '../facts/rows';
import { isIndexTest, waitingIndex } from '@/lib/outbox/wanted-index';
import { priceOf } from '../price';

/** So many rows to step over are a page each for the relay's claim. */
const STEPPED_OVER = 500;

/** Dead events lie in the index that leads to the waiting ones: every claim steps over them before it finds work. */
export const deadInWaitingIndexCheck: Check = {
  id: 'dead_in_waiting_index',
  engines: ['postgres'],
  examine(patient) {
    const { outbox, facts, cures } = patient;
    const { dead, waiting } = facts.rows;
    if (outbox.dead !== null || dead === null || dead.count < STEPPED_OVER) return [];
    const tests = commonTests(outbox.shape, ['pending', 'retrying']);
    const deadTests = commonTests(outbox.shape, ['dead']);
    // What holds for waiting rows and not for dead ones; an index that asks for none of it holds both.
    const apart = tests.filter((test) => deadTests.length > 0 && disjoint(test, { all: deadTests }));
    const shared = tests.filter((test) => !apart.includes(test));
    const serving = facts.main.indexes.filter(({ predicate, valid }) => valid && predicate !== null && holds(predicate, tests));
    if (serving.length === 0 || !serving.every(({ predicate }) => holds(predicate, shared))) return [];
    const [index] = serving;
    const created = timeColumn(outbox.main, 'createdAt') ?? outbox.main.id[0]?.name;
    if (index === undefined || created === undefined) return [];
    const kept = tests.filter(isIndexTest);
    const wanted = waitingIndex(outbox.database.engine, kept, created);
    const create = apart.length === 0 ? null : cures.createIndex(facts.main, wanted);
    return [
      {
        severity: 'watch',
        subject: index.name,
        values: {
          index: index.name,
          dead: dead.count,
          waiting: waiting?.looked ?? null,
          ...priceOf(patient, facts.main, wanted, waiting?.looked ?? 0),
        },
        ...(create === null ? {} : { cure: `${create}\n${cures.dropIndex(facts.main, index)}` }),
      },
    ];
  },
};
