import { BOTH, type Check } from '../check';

/** Half of what the column holds: failing once a second, a small counter has hours left. */
const NEAR_SHARE = 0.5;

/** The count of attempts comes near the largest number its column holds; past it every attempt fails with an error. */
export const counterOverflowCheck: Check = {
  id: 'counter_overflow',
  engines: BOTH,
  examine({ outbox, facts, cures }) {
    const attempts = outbox.main.roles.attempts;
    if (attempts === undefined || attempts.path.length > 0) return [];
    const column = facts.main.columns.get(attempts.column.name);
    if (column?.largest == null) return [];
    const seen = [facts.rows.waiting?.mostAttempts, Number(column.largestSeen), ...column.frequent.map(({ value }) => Number(value))];
    const most = Math.max(...seen.filter((value): value is number => typeof value === 'number' && Number.isFinite(value)), 0);
    const largest = Number(column.largest);
    if (most < NEAR_SHARE * largest) return [];
    return [
      {
        severity: 'act',
        subject: column.name,
        values: { column: column.name, attempts: most, largest, type: column.type },
        cure: cures.widen(facts.main, column),
      },
    ];
  },
};
