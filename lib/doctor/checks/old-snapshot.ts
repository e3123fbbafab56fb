import type { Check } from '../check';

const LONG_MS = 300_000;
const GRAVE_MS = 3_600_000;
/** Where nobody may see since when a transaction is open, or it is an orphan: so many others have ended since. */
const MANY_TRANSACTIONS = 50_000;

/** Somebody's open transaction keeps every row version since its beginning: vacuum takes none away, indexes fill with them. */
export const oldSnapshotCheck: Check = {
  id: 'old_snapshot',
  engines: ['postgres'],
  examine: ({ facts }) =>
    facts.holders.flatMap((holder) => {
      const { kind, who, user, application, ageMs, transactions, state, end } = holder;
      const orphan = kind !== 'session' && transactions >= MANY_TRANSACTIONS;
      if (!(ageMs === null ? transactions >= MANY_TRANSACTIONS : ageMs >= LONG_MS) && !orphan) return [];
      const values = { kind, who, user, application, state, ageMs, transactions, deadRows: facts.main.vacuum?.deadRows ?? null };
      return [
        {
          severity: ageMs !== null && ageMs >= GRAVE_MS ? ('act' as const) : ('watch' as const),
          subject: `${kind} ${who}`,
          values,
          cure: end,
        },
      ];
    }),
};
