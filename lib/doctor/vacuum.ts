/** What holds back the removal of old row versions, over which every claim has to step: vacuum on PostgreSQL, purge in InnoDB. */
import type { Checks } from './check';
import { nameOf, tablesOf, type VacuumFacts } from './facts/facts';

const LONG_MS = 300_000;
const GRAVE_MS = 3_600_000;
/** For a holder that is no session, or whose age is not known: this many transactions have begun since. */
const MANY_TRANSACTIONS = 50_000;
/** This many dead rows that a later vacuum had to leave are proof enough. */
const LEFT_ROWS = 1_000;
const LONG_HISTORY = 50_000;
const GRAVE_HISTORY = 1_000_000;

/** Vacuum ran since the transaction began, and left as many rows as make it start again. */
function inVain(vacuum: VacuumFacts | null, ageMs: number | null, now: number): boolean {
  if (vacuum === null || vacuum.vacuumedAt === null || ageMs === null) return false;
  return Date.parse(vacuum.vacuumedAt) > now - ageMs && vacuum.deadRows >= Math.max(LEFT_ROWS, vacuum.startsAtRows);
}

export const VACUUM_CHECKS: Checks = {
  /** An open transaction keeps every row version since its beginning: vacuum removes none, and indexes fill with them. */
  old_snapshot({ facts: { holders, main }, now }) {
    return holders.flatMap(({ kind, who, user, application, ageMs, transactions, state, end }) => {
      const long = ageMs === null || kind !== 'session' ? transactions >= MANY_TRANSACTIONS : false;
      if (!long && !(ageMs !== null && ageMs >= LONG_MS) && !inVain(main.vacuum, ageMs, now)) return [];
      const deadRows = main.vacuum?.deadRows ?? null;
      const values = { kind, who, user, application: application || null, state, ageMs, transactions, deadRows };
      return [{ severity: ageMs !== null && ageMs >= GRAVE_MS ? 'act' : 'watch', subject: `${kind} ${who}`, values, cure: end }];
    });
  },
  /** Nothing cleans up after the relay's updates. */
  autovacuum_off({ facts }) {
    return tablesOf(facts).flatMap((table) => {
      const { vacuum } = table;
      if (vacuum === null || (vacuum.enabled && vacuum.switchedOff.length === 0)) return [];
      const everywhere = ['ALTER SYSTEM SET autovacuum = on;', 'ALTER SYSTEM SET track_counts = on;', 'SELECT pg_reload_conf();'];
      const here = vacuum.switchedOff.map((name) => `ALTER TABLE ${name} RESET (autovacuum_enabled);`);
      const cure = [...here, ...(vacuum.enabled ? [] : everywhere)].join('\n');
      return [{ severity: 'act', subject: nameOf(table), values: { table: nameOf(table), deadRows: vacuum.deadRows }, cure }];
    });
  },
  /** InnoDB keeps old row versions that wait to be purged: every read of a row that the relay rewrites goes through them. */
  purge_lag({ facts: { purge } }) {
    const historyLength = purge?.historyLength ?? null;
    if (historyLength === null || historyLength < LONG_HISTORY) return [];
    const { who = null, user = null, ageMs = null, end = null } = purge?.oldest ?? {};
    return [{ severity: historyLength >= GRAVE_HISTORY ? 'act' : 'watch', values: { historyLength, user, who, ageMs }, cure: end }];
  },
};
