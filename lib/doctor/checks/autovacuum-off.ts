import type { Check } from '../check';
import { tablesOf } from '../facts/facts';
import { nameOf } from '../trend';

/** Nothing cleans up after the relay's updates. */
export const autovacuumOffCheck: Check = {
  id: 'autovacuum_off',
  engines: ['postgres'],
  examine: ({ facts }) =>
    tablesOf(facts).flatMap((table) => {
      const { vacuum } = table;
      if (vacuum === null || (vacuum.enabled && vacuum.switchedOff.length === 0)) return [];
      const everywhere = vacuum.enabled
        ? []
        : ['ALTER SYSTEM SET autovacuum = on;', 'ALTER SYSTEM SET track_counts = on;', 'SELECT pg_reload_conf();'];
      return [
        {
          severity: 'act' as const,
          subject: nameOf(table),
          values: { table: nameOf(table), deadRows: vacuum.deadRows },
          cure: [...vacuum.switchedOff.map((name) => `ALTER TABLE ${name} RESET (autovacuum_enabled);`), ...everywhere].join('\n'),
        },
      ];
    }),
};
