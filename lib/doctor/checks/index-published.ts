import { fitBlocks, fitRange } from '@/lib/outbox/indexes/index-fit';
import { publishedIndex } from '@/lib/outbox/indexes/wanted-index';
import { BOTH, type Check } from '../check';
import { timeColumn } from '../facts/rows';
import { missingIndex, testsOf } from '../index-need';

/** No index in the order of publishing: what was published lately cannot be counted, and purging reads the table. */
export const indexPublishedCheck: Check = {
  id: 'index_published',
  engines: BOTH,
  examine(patient) {
    const { outbox, facts } = patient;
    const published = timeColumn(outbox.main, 'publishedAt');
    if (published === null || !outbox.shape.states.some((rule) => rule.state === 'published')) return [];
    const tests = [...testsOf(patient, ['published']), { column: published, isNull: false }];
    if (fitRange(outbox.main, 'o', published, tests) !== null || fitBlocks(outbox.main, published, tests)) return [];
    return missingIndex(patient, facts.main, publishedIndex(published), facts.main.rows ?? 0);
  },
};
