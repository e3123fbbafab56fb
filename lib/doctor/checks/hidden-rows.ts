import type { Check } from '../check';

/** Row-level security keeps rows from the console: every figure counts only what it is let through. */
export const hiddenRowsCheck: Check = {
  id: 'hidden_rows',
  engines: ['postgres'],
  examine: ({ outbox, facts }) =>
    facts.hidden.map(({ table, policies, restricted }) => ({
      severity: 'act',
      subject: table,
      values: { table, policies },
      // A restrictive policy is passed by nobody whom it is for: no further policy changes that.
      cure: restricted
        ? `ALTER ROLE ${outbox.database.engine.quote.identifier(outbox.database.roles.reader)} BYPASSRLS;`
        : `CREATE POLICY outbox_console_reads ON ${table} FOR SELECT TO ${outbox.database.engine.quote.identifier(outbox.database.roles.reader)} USING (true);`,
    })),
};
