import { BOTH, type Check } from '../check';

const SKEW_MS = 5_000;

/** The database's clock and the console's differ: ages on screen, and what a relay calls due, are off by as much. */
export const clockSkewCheck: Check = {
  id: 'clock_skew',
  engines: BOTH,
  examine({ facts: { clock } }) {
    const sure = Math.abs(clock.aheadMs) - clock.uncertaintyMs;
    return sure < SKEW_MS
      ? []
      : [
          {
            severity: 'watch',
            values: {
              skewMs: Math.abs(clock.aheadMs),
              direction: clock.aheadMs > 0 ? 'ahead' : 'behind',
              uncertaintyMs: clock.uncertaintyMs,
            },
          },
        ];
  },
};
