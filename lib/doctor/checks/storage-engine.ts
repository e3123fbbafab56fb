import type { Check } from '../check';
import { tablesOf } from '../facts/facts';
import { nameOf } from '../trend';

/** The table takes no part in transactions: an event stays when the business change it belongs to is rolled back. */
export const storageEngineCheck: Check = {
  id: 'storage_engine',
  engines: ['mysql'],
  examine: ({ facts }) =>
    tablesOf(facts).flatMap((table) =>
      table.storage === null || table.storage.transactional
        ? []
        : [
            {
              severity: 'act' as const,
              subject: nameOf(table),
              values: { table: nameOf(table), storage: table.storage.name },
              cure: `ALTER TABLE ${table.quoted} ENGINE=InnoDB;`,
            },
          ],
    ),
};
