/** What is to be added to the rollups, and the slices of time it goes to: minutes, and the hours and days above them. */
import { emptySlot, type Slot } from './cell';

export const HOUR_MINUTES = 60;
export const DAY_MINUTES = 1_440;
/** Minutes are kept this long; what is older is in its hour. */
export const MINUTES_KEPT = 2 * DAY_MINUTES;

export const SLICE_MINUTES = { hour: HOUR_MINUTES, day: DAY_MINUTES } as const;

/** What is to be added, by minute since the epoch, then by series. */
export type Additions = Map<number, Map<string, Slot>>;

/** The slot of a series in a minute, made when it is not there yet. */
export function slotIn(additions: Additions, atMinute: number, series: string): Slot {
  const minute = additions.get(atMinute) ?? new Map<string, Slot>();
  additions.set(atMinute, minute);
  const slot = minute.get(series) ?? emptySlot();
  minute.set(series, slot);
  return slot;
}

/** The slice of a tier that a minute is in. */
export const sliceOf = (minute: number, tier: keyof typeof SLICE_MINUTES): number =>
  Math.floor(minute / SLICE_MINUTES[tier]) * SLICE_MINUTES[tier];

/** The first minute of the hours whose minutes are kept. */
export const minutesKeptFrom = (nowMinute: number): number => sliceOf(nowMinute - MINUTES_KEPT, 'hour');
