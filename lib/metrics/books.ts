/** What was collected, as readings need it: where the books end, and everything before that. */
import type { Transaction } from 'kysely';
import { readRollups, readSeries } from '@/lib/store/rollups';
import type { Store, StoreDb } from '@/lib/store/store';
import type { StoreTables } from '@/lib/store/tables';
import { readProgress } from './collector/progress';
import type { Head } from './observed';
import { lineOf, sumOf, type LinePoint, type SpanSum } from './rollup/history';
import { decodeSlot, type Slot } from './rollup/slot';

/** The minute of the last fold and those before it that a fold under way may still be writing to. */
const HEAD_MINUTES = 2;
/** To the end of the books: a clock that was set back may have left minutes ahead of the last fold. */
const LONGER_THAN_ANY_HEAD = 1_440;

export type SlotsByMinute = Map<number, Map<string, { slot: Slot; provisional: boolean }>>;

export interface Books {
  /** The newest minutes and how far they go, in one look; null while nothing is collected. */
  head(outbox: string): Promise<Head | null>;
  /** What was folded between two times, in minutes since the epoch; of one series, or of all. */
  sum(outbox: string, fromMinute: number, toMinute: number, series?: string): Promise<SpanSum>;
  line(
    outbox: string,
    series: string,
    bounds: { fromMinute: number; toMinute: number; stepMinutes: number },
  ): Promise<Map<number, LinePoint>>;
  /** Every series of some minutes, read from the minute tier. */
  minutes(outbox: string, fromMinute: number, toMinute: number): Promise<SlotsByMinute>;
  /** Every series that has ever had a slice. */
  seriesEver(outbox: string): Promise<string[]>;
}

export function openBooks({ db }: Store): Books {
  return {
    head: (outbox) =>
      // One snapshot: how far the books go and what is in them belong together.
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (tx) => {
          const progress = await readProgress(tx, outbox);
          if (progress === null) return null;
          const fromMinute = Math.floor(Date.parse(progress.foldedTo) / 60_000) - HEAD_MINUTES;
          const slots = await minutesOf(tx, outbox, fromMinute, fromMinute + LONGER_THAN_ANY_HEAD);
          return { progress, fromMinute, slots };
        }),
    sum: (outbox, fromMinute, toMinute, series) => sumOf(db, { outbox, fromMinute, toMinute, series }),
    line: (outbox, series, bounds) => lineOf(db, { outbox, series, ...bounds }),
    minutes: (outbox, fromMinute, toMinute) => minutesOf(db, outbox, fromMinute, toMinute),
    seriesEver: (outbox) => readSeries(db, outbox),
  };
}

async function minutesOf(
  db: StoreDb | Transaction<StoreTables>,
  outbox: string,
  fromMinute: number,
  toMinute: number,
): Promise<SlotsByMinute> {
  const minutes: SlotsByMinute = new Map();
  for (const { atMinute, series, data, provisional } of await readRollups(db, { outbox, tier: 'minute', fromMinute, toMinute })) {
    const minute = minutes.get(atMinute) ?? new Map<string, { slot: Slot; provisional: boolean }>();
    minutes.set(atMinute, minute);
    minute.set(series, { slot: decodeSlot(data), provisional });
  }
  return minutes;
}
