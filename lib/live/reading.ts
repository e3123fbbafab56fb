import type { SlotsSeen } from '@/lib/outbox/replication-slots/seen';
import type { Cell } from '@/lib/rollup/cell';
import { SLOTS_OWNER, type Aggregates, type Axis } from './reading-sql';
import type { Part } from '@/lib/outbox/scan/sources';
import type { Traits } from '@/lib/outbox/scan/traits';

export type { Aggregates } from './reading-sql';

/** Whether all rows of a part were read, only some, or the table has no such rows at all. */
export type Coverage = 'complete' | 'cut' | 'absent';

/** What is kept of a reading for the verdicts of the next quarter of an hour. */
export interface Past {
  /** ISO 8601 UTC by the database's clock. */
  asOf: string;
  /** By metric or rule, then by the figure's name. */
  figures: Record<string, Record<string, unknown>>;
  reach: Record<Part, Coverage>;
}

/** Rows in a slice of time; `untold` are those of them that left, or will leave, at an unknown time. */
export interface SliceCount {
  n: number;
  untold: number;
}

/** What one statement answered about one outbox as it is now. */
export interface Reading extends Past {
  /** Rows published from here on were read; null when none were, because nothing is collected yet. ISO 8601 UTC. */
  foldedTo: string | null;
  traits: Traits;
  /** Rows cut off are those that matter least: the newest waiting ones, the oldest published ones. */
  ordered: Record<Part, boolean>;
  /** Rows of the outbox's tables that it is made of. */
  rowsRead: number;
  /** Every dead row was looked at, not only counted. */
  deadDetailed: boolean;
  types: { type: string; figures: Record<string, Record<string, unknown>> }[];
  /** Open, dead and just published rows by one of their times, in minutes since the epoch. */
  slices: Record<Axis, ReadonlyMap<number, SliceCount>>;
  /** What was published since `foldedTo`, by minute, then by series, as the rollups will hold it. */
  tail: ReadonlyMap<number, ReadonlyMap<string, Cell>>;
}

/** What a reading says of them; times are ISO 8601 UTC. Empty where the outbox has none. */
export const figuresIn = <Answer extends object>({ figures }: Pick<Past, 'figures'>, { owner }: Aggregates<Answer>): Partial<Answer> =>
  (figures[owner] ?? {}) as Partial<Answer>;

/** What the server said of its replication slots; null where none can be read, or the rows report what is out. */
export const slotsIn = (past: Pick<Past, 'figures'>): SlotsSeen | null => (past.figures[SLOTS_OWNER]?.seen ?? null) as SlotsSeen | null;
