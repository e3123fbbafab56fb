import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import type { CollectionMethod } from '@/lib/shared/figures/collection';
import type { Additions } from '@/lib/rollup/cell';
import type { AttemptsRow } from './observers/attempts-count';

/** Events published in a span (instants in microseconds, `to` exclusive) that were tried more than once: all of them. */
export interface Tried {
  from: number;
  to: number;
  rows: AttemptsRow[];
}

export interface ObserverTick {
  outbox: Outbox;
  /**
   * The collector's read-only transaction, with its timeouts set: every statement sees what is committed when it begins.
   * Planner settings are the engine's `byIndex`, with memory to sort in.
   */
  db: Db;
  /** When this tick began, by the observed database's clock: ISO 8601 UTC with microseconds. */
  at: string;
  /** When this observer ticked last and its memory was made; null for the first time, whoever collected before. */
  previousAt: string | null;
  /** What this observer answered as `memory` last time; null for the first time. It has been JSON in between. */
  memory: unknown;
  /** What the collector has read since this observer ticked last; null where it reads no rows. */
  tried: Tried | null;
}

export interface Observation {
  /** What is to be added to the history, with the `how` of its cells. Watched minutes and depth are the collector's. */
  additions: Additions;
  /** JSON: kept with the additions, or lost with them. The very object it was given means that nothing has changed. */
  memory: unknown;
  /** Rows read, for the cost shown. */
  rows: number;
}

/**
 * Learns by reading what rows do not tell: what it saw last time is compared with what it sees now. Additions and memory
 * are written together, up to a tick later; when that fails, the next tick gets the older memory and a `previousAt` as old.
 */
export interface Observer {
  /** Names its memory. */
  key: string;
  wants(outbox: Outbox, method: CollectionMethod): boolean;
  /** How often it ticks, in milliseconds; less often where reading is expensive. */
  everyMs: number;
  /** It goes on from `tried`, which is emptied when it has ticked. */
  takesTried?: boolean;
  /** Throws DatabaseFailure; the other parts of the tick are kept then. */
  tick(input: ObserverTick): Promise<Observation>;
}
