/** What is to be added to the rollups, and the slices of time it goes to: minutes, and the hours and days above them. */
import { emptyCell, type Cell } from './cell';

export const HOUR_MINUTES = 60;
export const DAY_MINUTES = 1_440;
/** Minutes are kept this long; what is older is in its hour. */
export const MINUTES_KEPT = 2 * DAY_MINUTES;

export const SLICE_MINUTES = { hour: HOUR_MINUTES, day: DAY_MINUTES } as const;

/** What is to be added, by minute since the epoch, then by series. */
export type Additions = Map<number, Map<string, Cell>>;

/** The cell of a series in a minute, made when it is not there yet. */
export function cellIn(additions: Additions, atMinute: number, series: string): Cell {
  const minute = additions.get(atMinute) ?? new Map<string, Cell>();
  additions.set(atMinute, minute);
  const cell = minute.get(series) ?? emptyCell();
  minute.set(series, cell);
  return cell;
}

/** The slice of a tier that a minute is in. */
export const sliceOf = (minute: number, tier: keyof typeof SLICE_MINUTES): number =>
  Math.floor(minute / SLICE_MINUTES[tier]) * SLICE_MINUTES[tier];

/** The first minute of the hours whose minutes are kept. */
export const minutesKeptFrom = (nowMinute: number): number => sliceOf(nowMinute - MINUTES_KEPT, 'hour');
