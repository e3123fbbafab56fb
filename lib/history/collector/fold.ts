/** What the database counted, as additions to the books. */
import { addTo, countOf, type Histogram } from '@/lib/rollup/histogram';
import { cellIn, type Additions } from '@/lib/rollup/additions';
import { ALL_TYPES } from '@/lib/rollup/series-key';
import type { Cell } from '@/lib/rollup/cell';
import type { FoldedGroup } from './fold-sql';
import type { SeriesNames } from './series-names';

/** Adds groups to the books: each to its type and to all of them. `how` marks the cells they are added to. */
export function addCells(additions: Additions, groups: readonly FoldedGroup[], names: SeriesNames, stepMinutes = 1, how = 0): void {
  // The types with most events take the places there are.
  for (const group of groups.toSorted((a, b) => b.events - a.events)) {
    for (const series of names.allOf(group.type)) {
      const cell = cellIn(additions, group.published * stepMinutes, series);
      cell.how |= how;
      if (group.kind === 'processing') {
        if (group.processingBucket !== null) addTo(cell.processing, group.processingBucket, group.events);
        continue;
      }
      cell.published += group.events;
      cell.negative += group.negative;
      cell.latencySumMs += group.latencySumMs;
      if (group.latencyBucket !== null) addTo(cell.latency, group.latencyBucket, group.events);
      if (group.created !== null) cellIn(additions, group.created * stepMinutes, series).created += group.events;
    }
  }
}

/** Marks minutes in which nothing escaped: a zero in them is a zero. */
export function markWatched(additions: Additions, minutes: Iterable<number>, how = 0): void {
  for (const minute of minutes) {
    const cell = cellIn(additions, minute, ALL_TYPES);
    cell.minutes = 1;
    cell.how |= how;
  }
}

/**
 * What the table has beyond the books: for every bucket of every type the rows that are missing, none where the books have
 * more (rows that were purged since). `booked` answers the cell of a series in a minute.
 */
export function missing(
  groups: readonly FoldedGroup[],
  names: SeriesNames,
  booked: (minute: number, series: string) => Cell | null,
): FoldedGroup[] {
  const byKey = new Map<string, { series: string; groups: FoldedGroup[] }>();
  for (const group of groups) {
    const series = names.of(group.type);
    const key = [group.kind, group.published, group.kind === 'latency' ? group.latencyBucket : group.processingBucket, series].join(' ');
    const alike = byKey.get(key) ?? { series, groups: [] };
    alike.groups.push(group);
    byKey.set(key, alike);
  }
  const found: FoldedGroup[] = [];
  for (const { series, groups: alike } of byKey.values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const inTable = alike.reduce((sum, group) => sum + group.events, 0);
    let left = inTable - bookedEvents(booked(first.published, series), first);
    // Rows of one bucket differ in their minute of creation at most: whichever of them are missing, the sums are right.
    for (const group of alike) {
      if (left <= 0) break;
      found.push(shareOf(group, Math.min(left, group.events)));
      left -= group.events;
    }
  }
  return found;
}

function bookedEvents(cell: Cell | null, { kind, latencyBucket, processingBucket }: FoldedGroup): number {
  if (cell === null) return 0;
  const events = (histogram: Histogram, bucket: number): number => histogram.get(bucket) ?? 0;
  // A row without a time of claim is in no histogram: it is not missing.
  if (kind === 'processing') return processingBucket === null ? Infinity : events(cell.processing, processingBucket);
  return latencyBucket === null ? cell.published - countOf(cell.latency) : events(cell.latency, latencyBucket);
}

function shareOf(group: FoldedGroup, events: number): FoldedGroup {
  const share = events / group.events;
  return { ...group, events, latencySumMs: group.latencySumMs * share, negative: Math.round(group.negative * share) };
}
