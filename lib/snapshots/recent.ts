import type { RecentHistory } from '@/lib/diagnosis/evidence/circumstances';
import { liveSlices } from '@/lib/figures/span';
import { slicesOf, type History, type Head } from '@/lib/history/history';
import type { Reading } from '@/lib/live/reading';
import { getOrMake } from '@/lib/shared/group-by';
import { addCell, emptyCell, isWatched, ALL_TYPES, typeOfSeries, type Cell, type Slice } from '@/lib/rollup/cell';

const RECENT_MINUTES = 60;
/** The types with a series rarely change: they are read this often. */
const TYPES_KNOWN_MS = 60_000;

interface Kept {
  /** Minutes since the epoch: the minutes up to here have been read. */
  readTo: number;
  slices: readonly Slice[];
  types: readonly string[];
  typesAt: number;
}

/** The last hour of each outbox, for the verdicts: every minute is read once and kept, except those that are still being written. */
export function createRecent(history: History): (outbox: string, head: Head, reading: Reading) => Promise<RecentHistory> {
  const outboxes = new Map<string, Kept>();

  return async (outbox, head, reading) => {
    const now = Date.parse(reading.asOf);
    const oldest = Math.floor(now / 60_000) - RECENT_MINUTES;
    const kept = getOrMake(outboxes, outbox, () => ({ readTo: oldest, slices: [], types: [], typesAt: -Infinity }));
    const fromMinute = Math.max(oldest, kept.readTo);
    if (fromMinute < head.fromMinute) {
      const read = await slicesOf(history.rollups, { outbox, series: ALL_TYPES, fromMinute, toMinute: head.fromMinute, widest: 1 });
      // Concurrent calls read the same minutes, and replace them.
      kept.slices = [...kept.slices.filter(({ atMinute }) => atMinute >= oldest && atMinute < fromMinute), ...read];
      kept.readTo = head.fromMinute;
    }
    if (now - kept.typesAt > TYPES_KNOWN_MS) {
      kept.types = (await history.seriesEver(outbox)).flatMap((series) => typeOfSeries(series) ?? []);
      kept.typesAt = now;
    }
    const folded = [...kept.slices, ...head.slices].filter(({ atMinute }) => atMinute >= oldest);
    return recentOf(folded, liveSlices(reading), kept.types);
  };
}

function recentOf(folded: readonly Slice[], live: readonly Slice[], types: readonly string[]): RecentHistory {
  const minutes = new Map<number, Cell>();
  const watched = new Set(folded.flatMap(({ atMinute, cell }) => (isWatched(cell) ? [atMinute] : [])));
  for (const { series, atMinute, cell } of [...folded, ...live])
    if (series === ALL_TYPES) addCell(getOrMake(minutes, atMinute, emptyCell), cell);
  const published = [...folded, ...live].flatMap(({ series, cell }) => (cell.published > 0 ? (typeOfSeries(series) ?? []) : []));
  // Rows that still wait, or came out later, do not make the minute known in which they were created.
  const known = [...minutes].filter(([minute, cell]) => cell.published > 0 || watched.has(minute)).sort(([a], [b]) => a - b);
  return { minutes: known.map(([, cell]) => cell), typesPublished: new Set([...types, ...published]) };
}
