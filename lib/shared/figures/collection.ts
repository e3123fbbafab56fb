/** How the collector learns that events were published. */
export type CollectionMethod = 'published_index' | 'scan' | 'observed' | 'deleted' | 'statistics';

export interface CollectorStatus {
  /** `waiting`: not started. `slowed`: reads less often, to cost less. `blind`: cannot read. */
  state: 'waiting' | 'backfilling' | 'collecting' | 'slowed' | 'blind';
  method: CollectionMethod | null;
  /** The history has everything published before this. */
  foldedTo: string | null;
  watchedSince: string | null;
  /** Progress of the backfill, from 0 to 1; null when it is done. */
  backfill: { share: number; from: string } | null;
  /** Current time between two ticks, in milliseconds. */
  everyMs: number;
  /** Cost to the observed database since it was first watched. */
  cost: { statements: number; rows: number; milliseconds: number };
  /** What would make more figures known, or more exact; texts under `collector.advice.<code>`. */
  advice: { code: string; sql: string | null } | null;
}

/** Whether rows are counted by their own publishing time, rather than by observing them. */
export const countsRows = (method: CollectionMethod): boolean => method === 'published_index' || method === 'scan';
