import type { Check } from '../check';
import { tablesOf } from '../facts/facts';
import { nameOf } from '../trend';

/** Nothing cleans up after the relay's updates. */
export const autovacuumOffCheck: Check = {
  id: 'autovacuum_off',
  engines: ['postgres'],
  examine: ({ facts }) =>
    tablesOf(facts)
      .filter(({ vacuum }) => vacuum?.enabled === false)
      .map((table) => ({
        severity: 'act',
        subject: nameOf(table),
        values: { table: nameOf(table), deadRows: table.vacuum?.deadRows ?? null },
        cure: [...(table.partitioned ? table.partitions : [table.quoted])]
          .map((name) => `ALTER TABLE ${name} RESET (autovacuum_enabled);`)
          .concat('SHOW autovacuum;')
          .join('\n'),
      })),
};
