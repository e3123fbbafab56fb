import { cellIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES, OTHER_TYPES, seriesOfType } from '@/lib/rollup/series-key';
import type { Cell } from '@/lib/rollup/cell';

/** Changes what a minute says of one event's type, and of all types together. */
export function tally(additions: Additions, atMs: number, type: string | null, change: (cell: Cell) => void): void {
  const minute = Math.floor(atMs / 60_000);
  change(cellIn(additions, minute, ALL_TYPES));
  change(cellIn(additions, minute, type === null ? OTHER_TYPES : seriesOfType(type)));
}
