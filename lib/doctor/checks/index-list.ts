import { listOrder } from '@/lib/outbox/lists/order';
import { walksOf } from '@/lib/outbox/lists/walks';
import { listIndex } from '@/lib/outbox/indexes/wanted-index';
import { BOTH, type Check } from '../check';
import { timeColumn } from '../facts/rows';
import { missingIndex } from '../index-need';

/** No index gives events of every state in the order of their creation: lists leave some out, or show them by key. */
export const indexListCheck: Check = {
  id: 'index_list',
  engines: BOTH,
  examine(patient) {
    const { outbox, facts } = patient;
    const created = timeColumn(outbox.main, 'createdAt');
    if (created === null || walksOf(outbox, listOrder(outbox), {}).missingIndex !== 'order') return [];
    return missingIndex(patient, facts.main, listIndex(outbox.main, created), facts.main.rows ?? 0).map((found) => ({
      ...found,
      severity: 'watch',
    }));
  },
};
