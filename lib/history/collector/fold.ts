/** What the database counted, as additions to the books. */
import { addTo, countOf, type Histogram } from '@/lib/rollup/histogram';
import { slotIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import type { Slot } from '@/lib/rollup/cell';
import type { Cell } from './fold-sql';
import type { SeriesNames } from './series-names';

/** Adds cells to the books: each to its type and to all of them. `how` marks the slots they are added to. */
export function addCells(additions: Additions, cells: readonly Cell[], names: SeriesNames, stepMinutes = 1, how = 0): void {
  // The types with most events take the places there are.
  for (const cell of cells.toSorted((a, b) => b.events - a.events)) {
    for (const series of names.allOf(cell.type)) {
      const slot = slotIn(additions, cell.published * stepMinutes, series);
      slot.how |= how;
      if (cell.kind === 'processing') {
        if (cell.processingBucket !== null) addTo(slot.processing, cell.processingBucket, cell.events);
        continue;
      }
      slot.published += cell.events;
      slot.negative += cell.negative;
      slot.latencySumMs += cell.latencySumMs;
      if (cell.latencyBucket !== null) addTo(slot.latency, cell.latencyBucket, cell.events);
      if (cell.created !== null) slotIn(additions, cell.created * stepMinutes, series).created += cell.events;
    }
  }
}

/** Marks minutes in which nothing escaped: a zero in them is a zero. */
export function markWatched(additions: Additions, minutes: Iterable<number>, how = 0): void {
  for (const minute of minutes) {
    const slot = slotIn(additions, minute, ALL_TYPES);
    slot.minutes = 1;
    slot.how |= how;
  }
}

/**
 * What the table has beyond the books: for every bucket of every type the rows that are missing, none where the books have
 * more (rows that were purged since). `booked` answers the slot of a series in a minute.
 */
export function missing(cells: readonly Cell[], names: SeriesNames, booked: (minute: number, series: string) => Slot | null): Cell[] {
  const groups = new Map<string, { series: string; cells: Cell[] }>();
  for (const cell of cells) {
    const series = names.of(cell.type);
    const key = [cell.kind, cell.published, cell.kind === 'latency' ? cell.latencyBucket : cell.processingBucket, series].join(' ');
    const group = groups.get(key) ?? { series, cells: [] };
    group.cells.push(cell);
    groups.set(key, group);
  }
  const found: Cell[] = [];
  for (const { series, cells: alike } of groups.values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const inTable = alike.reduce((sum, cell) => sum + cell.events, 0);
    let left = inTable - bookedEvents(booked(first.published, series), first);
    // Rows of one bucket differ in their minute of creation at most: whichever of them are missing, the sums are right.
    for (const cell of alike) {
      if (left <= 0) break;
      found.push(shareOf(cell, Math.min(left, cell.events)));
      left -= cell.events;
    }
  }
  return found;
}

function bookedEvents(slot: Slot | null, { kind, latencyBucket, processingBucket }: Cell): number {
  if (slot === null) return 0;
  const events = (histogram: Histogram, bucket: number): number => histogram.get(bucket) ?? 0;
  // A row without a time of claim is in no histogram: it is not missing.
  if (kind === 'processing') return processingBucket === null ? Infinity : events(slot.processing, processingBucket);
  return latencyBucket === null ? slot.published - countOf(slot.latency) : events(slot.latency, latencyBucket);
}

function shareOf(cell: Cell, events: number): Cell {
  const share = events / cell.events;
  return { ...cell, events, latencySumMs: cell.latencySumMs * share, negative: Math.round(cell.negative * share) };
}
