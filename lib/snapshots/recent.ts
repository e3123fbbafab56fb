import { type History, type Head } from '@/lib/history/rollups/history';
import { liveSlots } from '@/lib/figures/span';
import type { Reading } from '@/lib/live/reading';
import { ALL_TYPES, typeOfSeries } from '@/lib/rollup/series-key';
import { addCell, emptyCell, type Cell } from '@/lib/rollup/cell';
import type { RecentHistory } from '@/lib/diagnosis/evidence/circumstances';

const RECENT_MINUTES = 60;
/** Which types are known changes seldom. */
const TYPES_KNOWN_MS = 60_000;

type Minutes = Map<number, ReadonlyMap<string, { cell: Cell; provisional: boolean }>>;

interface Kept {
  /** Minutes since the epoch: the minutes up to here have been read. */
  readTo: number;
  minutes: Minutes;
  types: ReadonlySet<string>;
  typesAt: number;
}

/** The last hour of each outbox: every minute is read once and kept, but for those that are still being written. */
export function createRecent(history: History): (outbox: string, head: Head, reading: Reading) => Promise<RecentHistory> {
  const kept = new Map<string, Kept>();

  return async (outbox, head, reading) => {
    const now = Date.parse(reading.asOf);
    const oldest = Math.floor(now / 60_000) - RECENT_MINUTES;
    const own = kept.get(outbox) ?? { readTo: oldest, minutes: new Map(), types: new Set(), typesAt: -Infinity };
    kept.set(outbox, own);
    const from = Math.max(oldest, own.readTo);
    if (from < head.fromMinute) {
      for (const [minute, series] of await history.minutes(outbox, from, head.fromMinute)) own.minutes.set(minute, series);
      own.readTo = head.fromMinute;
    }
    for (const minute of own.minutes.keys()) if (minute < oldest) own.minutes.delete(minute);
    if (now - own.typesAt > TYPES_KNOWN_MS) {
      own.types = new Set((await history.seriesEver(outbox)).flatMap((series) => typeOfSeries(series) ?? []));
      own.typesAt = now;
    }
    return recentOf(own, head, reading, oldest);
  };
}

function recentOf({ minutes, types }: Kept, head: Head, reading: Reading, oldest: number): RecentHistory {
  const all = new Map<number, { cell: Cell; provisional: boolean }>();
  const byType = new Map<string, Cell>();
  const add = (minute: number, series: string, cell: Cell, provisional: boolean): void => {
    if (minute < oldest) return;
    const type = typeOfSeries(series);
    if (type !== null) {
      const sum = byType.get(type) ?? emptyCell();
      addCell(sum, cell);
      byType.set(type, sum);
    } else if (series === ALL_TYPES) {
      const sum = all.get(minute) ?? { cell: emptyCell(), provisional };
      addCell(sum.cell, cell);
      all.set(minute, sum);
    }
  };
  for (const source of [minutes, head.cells])
    for (const [minute, series] of source) for (const [name, one] of series) add(minute, name, one.cell, one.provisional);
  for (const [minute, series] of liveSlots(reading)) {
    // What still waits from a minute that nobody watched does not make that minute known.
    for (const [name, cell] of series) if (name !== ALL_TYPES || all.has(minute) || cell.published > 0) add(minute, name, cell, false);
  }
  const published = [...byType].filter(([, cell]) => cell.published > 0).map(([type]) => type);
  return {
    minutes: [...all].sort(([a], [b]) => a - b).map(([minute, one]) => ({ atMs: minute * 60_000, ...one })),
    byType,
    typesPublished: new Set([...types, ...published]),
    watchedSinceMs: Date.parse(head.progress.watchedSince),
  };
}
