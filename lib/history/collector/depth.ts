import { cellIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES } from '@/lib/rollup/series-key';

/** What waits at this moment; null where it is not known. */
export interface DepthNow {
  waiting: number;
  dead: number | null;
  oldestAgeMs: number | null;
}

/** Adds one sample to a minute. */
export function addDepth(additions: Additions, minute: number, { waiting, dead, oldestAgeMs }: DepthNow): void {
  const cell = cellIn(additions, minute, ALL_TYPES);
  cell.depth = {
    samples: 1,
    waitingSum: waiting,
    waitingMax: waiting,
    waitingLast: waiting,
    deadLast: dead ?? -1,
    oldestAgeMaxMs: oldestAgeMs === null ? -1 : Math.max(0, Math.round(oldestAgeMs)),
  };
}
