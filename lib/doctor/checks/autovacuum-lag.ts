import type { Check } from '../check';
import { tablesOf } from '../facts/facts';
import { nameOf } from '../trend';

const LEAST_DEAD_ROWS = 20_000;
/** Autovacuum starts within a minute of its threshold: at this many times it, it does not come, or does not get through. */
const BEHIND = 3;

/** When autovacuum starts by itself; a table whose own settings let it wait longer is not let off. */
const USUAL_ROWS = 50;
const USUAL_SHARE = 0.2;

/** Far more dead row versions than make autovacuum start. */
export const autovacuumLagCheck: Check = {
  id: 'autovacuum_lag',
  engines: ['postgres'],
  examine: ({ facts, cures }) =>
    tablesOf(facts).flatMap((table) => {
      const { vacuum } = table;
      if (vacuum === null) return [];
      const due = Math.min(vacuum.startsAtRows, USUAL_ROWS + USUAL_SHARE * (table.rows ?? Infinity));
      if (vacuum.deadRows < LEAST_DEAD_ROWS || vacuum.deadRows < BEHIND * due) return [];
      const values = {
        table: nameOf(table),
        deadRows: vacuum.deadRows,
        startsAtRows: Math.round(vacuum.startsAtRows),
        vacuumedAt: vacuum.vacuumedAt,
      };
      const settings = table.partitioned
        ? []
        : [
            `ALTER TABLE ${table.quoted} SET (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);`,
          ];
      return [{ severity: 'watch' as const, subject: nameOf(table), values, cure: [cures.clean(table), ...settings].join('\n') }];
    }),
};
