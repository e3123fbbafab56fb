/** What was collected, as readings need it: where the rollups end, and everything before that. */
import { gather } from '@/lib/shared/async/gather';
import { findCollectorStates } from '@/lib/store/collector-leases';
import { readRollupsOf, readSeries, type Rollup, type RollupSpan } from '@/lib/store/rollups';
import type { Store, StoreDb } from '@/lib/store/store';
import { parseProgress, type Progress } from '../collector/progress';
import { lineOf, sumOf, type LinePoint, type SpanSum } from './spans';
import { decodeCell, type Cell } from '@/lib/rollup/cell';

/** The minute of the last fold and those before it that a fold under way may still be writing to. */
const HEAD_MINUTES = 2;
/** To the end of the rollups: a clock that was set back may have left minutes ahead of the last fold. */
const LONGER_THAN_ANY_HEAD = 1_440;
/** Outboxes read in one statement: with an hour of them it answers some thousand rows. */
const TOGETHER = 25;

/** The newest end of the rollups, read in one look together with how far they go. */
export interface Head {
  progress: Progress;
  /** Minutes since the epoch: the head holds every slice from here on. */
  fromMinute: number;
  cells: ReadonlyMap<number, ReadonlyMap<string, { cell: Cell; provisional: boolean }>>;
}

export type CellsByMinute = Map<number, Map<string, { cell: Cell; provisional: boolean }>>;

export interface History {
  /** The newest minutes and how far they go, in one look; null while nothing is collected. */
  head(outbox: string): Promise<Head | null>;
  /** What was collected between two times, in minutes since the epoch; of one series, or of all. */
  sum(outbox: string, fromMinute: number, toMinute: number, series?: string): Promise<SpanSum>;
  line(
    outbox: string,
    series: string,
    bounds: { fromMinute: number; toMinute: number; stepMinutes: number },
  ): Promise<Map<number, LinePoint>>;
  /** Every series of some minutes, read from the minute tier. */
  minutes(outbox: string, fromMinute: number, toMinute: number): Promise<CellsByMinute>;
  /** Every series that has ever had a slice. */
  seriesEver(outbox: string): Promise<string[]>;
}

/** Asked for many outboxes at once it takes as few statements as for a few: what is asked together is read together. */
export function openHistory({ db }: Store): History {
  const rollups = gather(TOGETHER, (spans: readonly RollupSpan[]) => readRollupsOf(db, spans));
  return {
    head: gather(TOGETHER, (outboxes: readonly string[]) => headsOf(db, outboxes)),
    sum: (outbox, fromMinute, toMinute, series) => sumOf(rollups, { outbox, fromMinute, toMinute, series }),
    line: (outbox, series, bounds) => lineOf(rollups, { outbox, series, ...bounds }),
    minutes: async (outbox, fromMinute, toMinute) => byMinute(await rollups({ outbox, tier: 'minute', fromMinute, toMinute })),
    seriesEver: (outbox) => readSeries(db, outbox),
  };
}

/** In one snapshot: how far the rollups go and what is in them belong together. */
function headsOf(db: StoreDb, outboxes: readonly string[]): Promise<(Head | null)[]> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const states = await findCollectorStates(tx, outboxes);
      const begun = outboxes.map((outbox) => {
        const state = states.get(outbox);
        const progress = state === undefined ? null : parseProgress(state);
        return progress === null
          ? null
          : { outbox, progress, fromMinute: Math.floor(Date.parse(progress.foldedTo) / 60_000) - HEAD_MINUTES };
      });
      const known = begun.filter((one) => one !== null);
      const rollups = await readRollupsOf(
        tx,
        known.map(({ outbox, fromMinute }) => ({ outbox, tier: 'minute', fromMinute, toMinute: fromMinute + LONGER_THAN_ANY_HEAD })),
      );
      const heads = new Map(
        known.map(({ outbox, progress, fromMinute }, at) => [outbox, { progress, fromMinute, cells: byMinute(rollups[at] ?? []) }]),
      );
      return outboxes.map((outbox) => heads.get(outbox) ?? null);
    });
}

function byMinute(rollups: readonly Rollup[]): CellsByMinute {
  const minutes: CellsByMinute = new Map();
  for (const { atMinute, series, data, provisional } of rollups) {
    const minute = minutes.get(atMinute) ?? new Map<string, { cell: Cell; provisional: boolean }>();
    minutes.set(atMinute, minute);
    minute.set(series, { cell: decodeCell(data), provisional });
  }
  return minutes;
}
