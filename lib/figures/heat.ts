import { bucketValue, type Histogram } from '@/lib/rollup/histogram';

/** Upper ends of the rows of a heat map, in milliseconds: about three per factor of ten, on times people know. */
export const HEAT_BOUNDS_MS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 60_000, 300_000, 1_800_000] as const;

/** Events per row of the heat map, the last one without an upper end. */
export function heatOf(histogram: Histogram): number[] {
  const rows = Array.from({ length: HEAT_BOUNDS_MS.length + 1 }, () => 0);
  for (const [bucket, count] of histogram) {
    const value = bucketValue(bucket);
    const row = HEAT_BOUNDS_MS.findIndex((bound) => value <= bound);
    const at = row === -1 ? HEAT_BOUNDS_MS.length : row;
    rows[at] = (rows[at] ?? 0) + count;
  }
  return rows;
}
