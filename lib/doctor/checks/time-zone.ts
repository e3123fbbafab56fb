import { BOTH, type Check } from '../check';
import { nameOf } from '../trend';

/** Times without a zone that the database fills in by another clock than the one they are read by. */
export const timeZoneCheck: Check = {
  id: 'time_zone',
  engines: BOTH,
  examine({ outbox, facts }) {
    const { zone, main } = facts;
    if (zone.minutes === zone.expectedMinutes) return [];
    const filled = (['createdAt', 'publishedAt', 'attemptedAt'] as const).flatMap((role) => {
      const bound = outbox.main.roles[role];
      if (bound === undefined || bound.column.kind !== 'wall_clock') return [];
      const { defaultText } = main.columns.get(bound.column.name) ?? { defaultText: null };
      // now() AT TIME ZONE 'UTC' means what it says, whatever the session's zone.
      return defaultText !== null &&
        /now\(|current_timestamp|localtimestamp/i.test(defaultText) &&
        !/timezone\(|at time zone|utc_timestamp/i.test(defaultText)
        ? [bound.column.name]
        : [];
    });
    if (filled.length === 0) return [];
    const values = {
      table: nameOf(main),
      columns: filled.join(', '),
      zone: zone.name,
      expected: outbox.parameters.timeZone,
      offMs: Math.abs(zone.minutes - zone.expectedMinutes) * 60_000,
    };
    return [{ severity: 'watch', values }];
  },
};
