/** What a process keeps in memory of an outbox that it owns; all of it can be made anew from the store. */
import { readCollectorState, type Lease } from '@/lib/store/collector-leases';
import { readSeries } from '@/lib/store/rollups';
import type { Store } from '@/lib/store/store';
import type { Additions } from '@/lib/rollup/cell';
import { Horizon, type Lags, MINUTE, SECOND, Backoff, Width } from './clock';
import type { Choice } from './method';
import type { Tried } from './observers/observer';
import { parseProgress, type Progress } from './progress';
import { SeriesNames } from './series-names';

/** What the observers remember, by their keys. */
export type Memory = Record<string, { at: string; memory: unknown }>;

export interface Session {
  lease: Lease;
  /** null until the outbox has been read for the first time. */
  progress: Progress | null;
  memory: Memory;
  /** The memory has changed since it was written. */
  memoryChanged: boolean;
  /** Seen by observers since the last entry into the history. */
  pending: Additions;
  /** Collected since the observer of attempts ticked last; null where no rows are collected. */
  tried: Tried | null;
  names: SeriesNames;
  horizon: Horizon;
  pace: Backoff;
  /** The share of the time that ticks may take. */
  duty: number;
  /** Of the spans collected, and of the slices of the past read. */
  collectWidth: Width;
  backfillWidth: Width;
  /** How the outbox is collected, and when that was found out, in milliseconds since the epoch. */
  choice: Choice | null;
  chosenAt: number;
  /** By the observed database's clock, in microseconds: when minutes were recounted last, and up to which minute. */
  recountedAt: number;
  recountedTo: number;
  /** Minutes recounted in one go: fewer where that took too long. */
  recountMinutes: number;
  /** Late rows were found: recount every minute until then. */
  watchfulUntil: number;
  /** What the observers' ticks have cost since the last entry. */
  observed: Progress['cost'];
}

export const noCost = (): Progress['cost'] => ({ statements: 0, rows: 0, milliseconds: 0 });

const DAY = 1_440 * MINUTE;
export const RECOUNT_MINUTES = 16;

/** Begins where the history says that the last owner ended. Throws when they are of another version of the console. */
export async function openSession(
  store: Store,
  lease: Lease,
  { lags, tickMs, duty }: { lags: Lags; tickMs: number; duty: number },
): Promise<Session> {
  const state = await readCollectorState(store.db, lease.outbox);
  const progress = state === null ? null : parseProgress(state.state);
  if (state !== null && progress === null)
    throw new Error(`The history of ${lease.outbox} was written by another version of the console: it is left alone`);
  return {
    lease,
    progress,
    memory: JSON.parse(state?.memory ?? '{}') as Memory,
    memoryChanged: false,
    pending: new Map(),
    tried: null,
    names: new SeriesNames(await readSeries(store.db, lease.outbox)),
    horizon: new Horizon(lags),
    pace: new Backoff(tickMs, Math.max(tickMs, progress?.everyMs ?? 0), duty),
    duty,
    collectWidth: new Width(MINUTE, { least: SECOND, most: 10 * MINUTE }),
    backfillWidth: new Width(10 * MINUTE, { least: SECOND, most: DAY }),
    choice: null,
    chosenAt: -Infinity,
    recountedAt: -Infinity,
    recountedTo: -Infinity,
    recountMinutes: RECOUNT_MINUTES,
    watchfulUntil: -Infinity,
    observed: noCost(),
  };
}
