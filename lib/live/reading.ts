import type { SlotsSeen } from '@/lib/outbox/replication-slots/seen';
import type { Cell } from '@/lib/rollup/cell';
import type { Axis } from './over-time-sql';
import { ACTED_OWNER, SLOTS_OWNER, type Aggregates } from './reading-sql';
import type { Part } from '@/lib/outbox/scan/sources';
import type { Traits } from '@/lib/outbox/scan/traits';

export type { Aggregates } from './reading-sql';

/** Whether all rows of a part were read, only some, or the table has no such rows at all. */
export type Coverage = 'complete' | 'cut' | 'absent';

/** What is kept of a reading for the verdicts of the next 15 minutes. */
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

/** The result of one statement about one outbox as it is now. */
export interface Reading extends Past {
  /** Rows published from here on were read; null if none were, because nothing is collected yet. ISO 8601 UTC. */
  foldedTo: string | null;
  traits: Traits;
  /** Whether rows that were cut off are those that matter least: the newest waiting ones, the oldest published ones. */
  ordered: Record<Part, boolean>;
  rowsRead: number;
  /** Every dead row was read, not only counted. */
  deadDetailed: boolean;
  types: { type: string; figures: Record<string, Record<string, unknown>> }[];
  /** Open, dead and just published rows by one of their times, in minutes since the epoch. */
  slices: Record<Axis, ReadonlyMap<number, SliceCount>>;
  /** What was published since `foldedTo`, by minute, then by series, as the rollups will hold it. */
  tail: ReadonlyMap<number, ReadonlyMap<string, Cell>>;
}

/** The figures of an owner; times are ISO 8601 UTC. Empty if the outbox has none. */
export const figuresIn = <Answer extends object>({ figures }: Pick<Past, 'figures'>, { owner }: Aggregates<Answer>): Partial<Answer> =>
  (figures[owner] ?? {}) as Partial<Answer>;

/** An operator's intervention within the last day; `count`: of events that it changed. */
export interface Act extends Record<'at' | 'operation' | 'actor', string> {
  count: number;
  /** Dead events were put aside or brought back dead: of those that wait, nothing changed. */
  tidies?: boolean;
}

/** Newest first. */
export const actsIn = (past: Pick<Past, 'figures'>): readonly Act[] => (past.figures[ACTED_OWNER]?.acts ?? []) as Act[];

/** The server's replication slots; null if none can be read, or rows show what is published. */
export const slotsIn = (past: Pick<Past, 'figures'>): SlotsSeen | null => (past.figures[SLOTS_OWNER]?.seen ?? null) as SlotsSeen | null;
