/** What the console's logins may do and see: more than they need, or less. */
import { recordsIndexStatement } from '@/lib/outbox/companions';
import type { Checks } from './check';

const GRAVE = ['superuser', 'creates_roles', 'server', 'owner'];

export const RIGHT_CHECKS: Checks = {
  /** A login of the console may do more than watching, or its operations, need: so may anyone with a stolen password. */
  role_too_wide({ facts }) {
    return facts.roles.flatMap(({ key, name, wide }) => {
      if (wide.length === 0) return [];
      const codes = [...new Set(wide.map(({ code }) => code))];
      const on = wide.flatMap((one) => (one.on === '' ? [] : [one.on]));
      const severity = codes.some((code) => GRAVE.includes(code)) ? 'act' : 'watch';
      const values = { login: key, role: name, codes: codes.join(' '), rights: on.join('; ') || null };
      const revokes = new Set(wide.flatMap(({ revoke }) => revoke?.split('\n') ?? []));
      return [{ severity, subject: key, values, cure: [...revokes].join('\n') || null }];
    });
  },
  /** Row-level security hides rows from the console: every figure counts only those it may see. */
  hidden_rows({ outbox: { database }, facts }) {
    const reader = database.engine.quote.identifier(database.roles.reader);
    return facts.hidden.map(({ table, policies, restricted }) => ({
      severity: 'act',
      subject: table,
      values: { table, policies },
      // A restrictive policy applies whatever other policies allow: a further policy does not help.
      cure: restricted
        ? `ALTER ROLE ${reader} BYPASSRLS;`
        : `CREATE POLICY outbox_console_reads ON ${table} FOR SELECT TO ${reader} USING (true);`,
    }));
  },
  /** The console's records have no index for counting events yet: nothing can be changed until they have it. */
  records_index({ outbox: { database, records } }) {
    if (database.write === null || records !== 'unindexed') return [];
    return [{ severity: 'act', values: {}, cure: `${recordsIndexStatement(database.engine)};` }];
  },
};
