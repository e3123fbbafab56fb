import { slotIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES, OTHER_TYPES, seriesOfType } from '@/lib/rollup/series-key';
import type { Slot } from '@/lib/rollup/cell';

/** Changes what a minute says of one event's type, and of all types together. */
export function tally(additions: Additions, atMs: number, type: string | null, change: (slot: Slot) => void): void {
  const minute = Math.floor(atMs / 60_000);
  change(slotIn(additions, minute, ALL_TYPES));
  change(slotIn(additions, minute, type === null ? OTHER_TYPES : seriesOfType(type)));
}
