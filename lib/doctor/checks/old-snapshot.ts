import type { Check } from '../check';
import type { VacuumFacts } from '../facts/facts';

const LONG_MS = 300_000;
const GRAVE_MS = 3_600_000;
/** Where nobody may see since when a transaction is open, or it is an orphan: so many others have ended since. */
const MANY_TRANSACTIONS = 50_000;

/** So many rows that vacuum came for since, and had to leave, are proof enough. */
const LEFT_ROWS = 1_000;

/** Somebody's open transaction keeps every row version since its beginning: vacuum takes none away, indexes fill with them. */
export const oldSnapshotCheck: Check = {
  id: 'old_snapshot',
  engines: ['postgres'],
  examine: ({ facts, now }) =>
    facts.holders.flatMap((holder) => {
      const { kind, who, user, application, ageMs, transactions, state, end } = holder;
      const orphan = kind !== 'session' && transactions >= MANY_TRANSACTIONS;
      if (!(ageMs === null ? transactions >= MANY_TRANSACTIONS : ageMs >= LONG_MS) && !orphan && !inVain(facts.main.vacuum, ageMs, now))
        return [];
      const values = {
        kind,
        who,
        user,
        application: application || null,
        state,
        ageMs,
        transactions,
        deadRows: facts.main.vacuum?.deadRows ?? null,
      };
      return [
        {
          severity: ageMs !== null && ageMs >= GRAVE_MS ? ('act' as const) : ('watch' as const),
          subject: `${kind} ${who}`,
          values,
          ...(end === null ? {} : { cure: end }),
        },
      ];
    }),
};

/** Vacuum came since the transaction began, and as many rows are left as make it come again. */
function inVain(vacuum: VacuumFacts | null, ageMs: number | null, now: number): boolean {
  if (vacuum === null || vacuum.vacuumedAt === null || ageMs === null) return false;
  return Date.parse(vacuum.vacuumedAt) > now - ageMs && vacuum.deadRows >= Math.max(LEFT_ROWS, vacuum.startsAtRows);
}
