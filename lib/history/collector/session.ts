/** What a process keeps in memory of an outbox that it owns; all of it can be made anew from the store. */
import { readCollectorState, type Lease } from '@/lib/store/collector-leases';
import { readSeries } from '@/lib/store/rollups';
import type { Store } from '@/lib/store/store';
import { addCell, ALL_TYPES, cellIn, OTHER_TYPES, seriesOfType, TYPES_KEPT, typeOfSeries, type Additions } from '@/lib/rollup/cell';
import { Horizon, type Lags, MINUTE, SECOND, Backoff, Width } from './clock';
import type { Choice } from './method';
import type { Tried } from './observers/observer';
import { NO_COST, parseProgress, type Progress } from './progress';

export interface Timing {
  /** Between ticks where they are cheap. */
  tickMs: number;
  leaseSeconds: number;
  lags: Lags;
  /** The share of the time that ticks may take. */
  duty: number;
  /** How often recent minutes are recounted, in microseconds. */
  recountEvery: number;
  /** How far back the past is read, in microseconds. */
  retention: number;
}

export const RECOUNT_MINUTES = 16;

export class Session {
  /** Seen by observers since the last entry into the history, and what their ticks have cost. */
  pending: Additions = new Map();
  observed = NO_COST;
  /** The memory has changed since it was written. */
  memoryChanged = false;
  /** Collected since the observer of attempts ticked last; null where no rows are collected. */
  tried: Tried | null = null;
  readonly horizon: Horizon;
  readonly pace: Backoff;
  /** When each observer is due again, in milliseconds since the epoch, and how expensive it is. */
  readonly rounds = new Map<string, { dueAt: number; pace: Backoff }>();
  tickDueAt = 0;
  backfillDueAt = 0;
  /** Of the spans collected, and of the slices of the past read. */
  readonly collectWidth = new Width(MINUTE, { least: SECOND, most: 10 * MINUTE });
  readonly backfillWidth = new Width(10 * MINUTE, { least: SECOND, most: 1_440 * MINUTE });
  /** How the outbox is collected, and when that was found out, in milliseconds since the epoch. */
  choice: Choice | null = null;
  chosenAt = -Infinity;
  /** By the observed database's clock, in microseconds: when minutes were recounted last, and up to which minute. */
  recountedAt = -Infinity;
  recountedTo = -Infinity;
  /** Minutes recounted in one go: fewer where that took too long. */
  recountMinutes = RECOUNT_MINUTES;
  /** Late rows were found: recount every minute until then. */
  watchfulUntil = -Infinity;

  constructor(
    readonly lease: Lease,
    readonly timing: Timing,
    /** null until the outbox has been read for the first time. */
    public progress: Progress | null,
    /** What the observers remember, by their keys. */
    readonly memory: Record<string, { at: string; memory: unknown }>,
    readonly names: SeriesNames,
  ) {
    const { tickMs, duty, lags } = timing;
    this.horizon = new Horizon(lags);
    this.pace = new Backoff(tickMs, Math.max(tickMs, progress?.everyMs ?? 0), duty);
  }
}

/** Begins where the history says that the last owner ended. Throws when they are of another version of the console. */
export async function openSession(store: Store, lease: Lease, timing: Timing): Promise<Session> {
  const state = await readCollectorState(store.db, lease.outbox);
  const progress = state === null ? null : parseProgress(state.state);
  if (state !== null && progress === null)
    throw new Error(`The history of ${lease.outbox} was written by another version of the console: it is left alone`);
  const memory = JSON.parse(state?.memory ?? '{}') as Session['memory'];
  return new Session(lease, timing, progress, memory, new SeriesNames(await readSeries(store.db, lease.outbox)));
}

/** Gives event types their series: the first two hundred of an outbox have one each, the rest share one. */
export class SeriesNames {
  private readonly known: Set<string>;

  /** `series` are those the history has already. */
  constructor(series: Iterable<string>) {
    this.known = new Set([...series].filter((one) => typeOfSeries(one) !== null));
  }

  /** A type seen for the first time takes a place, while there is one. */
  of(type: string | null): string {
    if (type === null) return OTHER_TYPES;
    const series = seriesOfType(type);
    if (!this.known.has(series)) {
      if (this.known.size >= TYPES_KEPT) return OTHER_TYPES;
      this.known.add(series);
    }
    return series;
  }

  /** The series an event counts into. */
  allOf(type: string | null): [string, string] {
    return [ALL_TYPES, this.of(type)];
  }

  /** Adds under the series there are: types beyond the last place are put together. */
  add(sum: Additions, additions: Additions): void {
    for (const [minute, series] of additions) {
      for (const [name, cell] of series) {
        const type = typeOfSeries(name);
        addCell(cellIn(sum, minute, type === null ? name : this.of(type)), cell);
      }
    }
  }
}
