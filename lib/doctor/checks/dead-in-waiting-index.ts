import { fixes, holds } from '@/lib/outbox/indexes/index-fit';
import { commonTests } from '@/lib/shape/compile';
import { disjoint, type Leaf } from '@/lib/shape/reason';
import { BOTH, SMALL_ROWS, type Check } from '../check';
import type { IndexFacts } from '../facts/facts';
import { timeColumn } from '../facts/rows';
import { isIndexTest, waitingIndex } from '@/lib/outbox/indexes/wanted-index';
import { priceOf } from '../price';

/** So many rows to step over are a page each for the relay's claim. */
const STEPPED_OVER = 500;

/** Dead events lie in the index that leads to the waiting ones: every claim steps over them before it finds work. */
export const deadInWaitingIndexCheck: Check = {
  id: 'dead_in_waiting_index',
  engines: BOTH,
  examine(patient) {
    const { outbox, facts, cures } = patient;
    const { dead, waiting } = facts.rows;
    if (outbox.dead !== null || dead === null || dead.count < STEPPED_OVER) return [];
    const tests = commonTests(outbox.shape, ['pending', 'retrying']);
    const deadTests = commonTests(outbox.shape, ['dead']);
    // What holds for waiting rows and not for dead ones; an index that asks for none of it holds both.
    const apart = tests.filter((test) => deadTests.length > 0 && disjoint(test, { all: deadTests }));
    const shared = tests.filter((test) => !apart.includes(test));
    const serving = facts.main.indexes.filter((index) => leadsTo(index, tests));
    if (serving.length === 0 || !serving.every((index) => leadsTo(index, shared, tests))) return [];
    const [index] = serving;
    const created = timeColumn(outbox.main, 'createdAt') ?? outbox.main.id[0]?.name;
    if (index === undefined || created === undefined) return [];
    // One of every row serves others too, and one that alone leads to the dead events of a large table has that to do still.
    const isNeeded = (one: IndexFacts): boolean =>
      one.predicate === null ||
      ((facts.main.rows ?? 0) > SMALL_ROWS && !facts.main.indexes.some((other) => other !== one && leadsTo(other, deadTests)));
    const kept = tests.filter(isIndexTest);
    const wanted = waitingIndex(outbox.database.engine, kept, created);
    const create = !apart.some(isIndexTest) ? null : cures.createIndex(facts.main, wanted);
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
        ...(create === null ? {} : { cure: [create, ...(isNeeded(index) ? [] : [cures.dropIndex(facts.main, index)])].join('\n') }),
      },
    ];
  },
};

/** Whether an index holds, or finds by what it begins with, the rows of `tests`; with `all`, whether it does so asking for no more of those than `tests`. */
function leadsTo({ valid, method, predicate, columns }: IndexFacts, tests: readonly Leaf[], all = tests): boolean {
  if (!valid || method !== 'btree' || !holds(predicate, [...tests])) return false;
  const fixed = (column: string | undefined, by: readonly Leaf[]): boolean => by.some((test) => test.column === column && fixes(test));
  if (predicate === null && !fixed(columns[0], tests)) return false;
  // A column after the first that sets dead rows apart.
  const end = columns.findIndex((column) => !fixed(column, all));
  return columns.slice(0, end < 0 ? columns.length : end).every((column) => fixed(column, tests));
}
