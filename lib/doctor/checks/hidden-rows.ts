import type { Check } from '../check';

/** Row-level security keeps rows from the console: every figure counts only what it is let through. */
export const hiddenRowsCheck: Check = {
  id: 'hidden_rows',
  engines: ['postgres'],
  examine: ({ outbox, facts }) =>
    facts.hidden.map(({ table, policies }) => ({
      severity: 'act',
      subject: table,
      values: { table, policies },
      cure: `CREATE POLICY outbox_console_reads ON ${table} FOR SELECT TO ${outbox.database.engine.quote.identifier(outbox.database.roles.reader)} USING (true);`,
    })),
};
