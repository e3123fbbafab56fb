import { recordsIndexStatement } from '@/lib/outbox/companions';
import { BOTH, one, type Check } from '../check';

/** The console's own records were installed before events were counted in them: nothing can be changed until they can be. */
export const recordsIndexCheck: Check = {
  id: 'records_index',
  engines: BOTH,
  examine: ({ outbox: { database, records } }) =>
    one(
      database.write !== null && records === 'unindexed'
        ? { severity: 'act', values: {}, cure: `${recordsIndexStatement(database.engine)};` }
        : null,
    ),
};
