import type { Check } from '../check';
import { tablesOf } from '../facts/facts';
import { nameOf } from '../trend';

/** The server empties the table after a crash: events whose transactions were committed are gone. */
export const unloggedTableCheck: Check = {
  id: 'unlogged_table',
  engines: ['postgres'],
  examine: ({ facts }) =>
    tablesOf(facts)
      .filter(({ vacuum }) => (vacuum?.unlogged.length ?? 0) > 0)
      .map((table) => ({
        severity: 'act',
        subject: nameOf(table),
        values: { table: nameOf(table), rows: table.rows },
        cure: (table.vacuum?.unlogged ?? []).map((name) => `ALTER TABLE ${name} SET LOGGED;`).join('\n'),
      })),
};
