import { BOTH, type Check } from '../check';

const AHEAD_MS = 60_000;

/** Events dated into the future: a writer's clock, or its time zone, is wrong; they come out late and look young. */
export const eventsFromFutureCheck: Check = {
  id: 'events_from_future',
  engines: BOTH,
  examine: ({ facts: { rows } }) =>
    rows.aheadMs === null || rows.aheadMs < AHEAD_MS ? [] : [{ severity: 'watch', values: { aheadMs: rows.aheadMs } }],
};
