/** What is done to know an outbox's history. */

/** How the collector learns that events were published. */
export type CollectionMethod = 'published_index' | 'scan' | 'observed' | 'deleted' | 'statistics';

/** What the collector does about one outbox. */
export interface CollectorStatus {
  /** `waiting`: it has not begun. `slowed`: it looks less often, to cost less. `blind`: it cannot read. */
  state: 'waiting' | 'backfilling' | 'collecting' | 'slowed' | 'blind';
  method: CollectionMethod | null;
  /** Everything published before this is in the history. */
  foldedTo: string | null;
  watchedSince: string | null;
  /** How far reading the past has come, from 0 to 1; null when it is done. */
  backfill: { share: number; from: string } | null;
  /** Milliseconds between two looks at the moment. */
  everyMs: number;
  /** What it has cost the observed database since it was first watched. */
  cost: { statements: number; rows: number; milliseconds: number };
  /** What would make more figures known, or known better; words under `collector.advice.<code>`. */
  advice: { code: string; sql: string | null } | null;
}

/** Whether rows are counted by their own time of publishing, and not by what was seen of them. */
export const countsRows = (method: CollectionMethod): boolean => method === 'published_index' || method === 'scan';
