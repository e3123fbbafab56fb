import { BOTH, DAY_MS, type Check } from '../check';
import { tablesOf } from '../facts/facts';
import { ratesOf, unreadSince } from '../trend';

/** So long nobody has read it: a report that runs once a week has come by. */
const UNREAD_MS = 8 * DAY_MS;
const WORTH_BYTES = 262_144;

/** An index that every write pays for and nobody has read since the doctor watches. */
export const indexUnusedCheck: Check = {
  id: 'index_unused',
  engines: BOTH,
  examine: ({ facts, trend, cures, now }) =>
    tablesOf(facts).flatMap((table) =>
      table.indexes.flatMap((index) => {
        const since = unreadSince(index, trend);
        if (
          index.unique ||
          index.constraint ||
          !index.valid ||
          index.bytes < WORTH_BYTES ||
          since === null ||
          now - Date.parse(since) < UNREAD_MS
        )
          return [];
        const rates = ratesOf(table, trend, facts.statisticsSince, now);
        const writesPerSecond = rates === null ? null : rates.insertsPerSecond + rates.updatesPerSecond - (rates.hotUpdatesPerSecond ?? 0);
        const values = { index: index.name, bytes: index.bytes, scans: index.scans, unreadMs: now - Date.parse(since), writesPerSecond };
        return [{ severity: 'note' as const, subject: index.name, values, cure: cures.dropIndex(table, index) }];
      }),
    ),
};
