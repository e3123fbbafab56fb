/** What a reading reads, a source at a time. */
import type { LiveState } from '@/lib/shared/states';
import type { Sql } from './sql-terms';

/** What the figures of now are made of: the rows of some states, and those published since the collector last folded. */
export const PARTS = ['waiting', 'processing', 'dead', 'published'] as const;
export type Part = (typeof PARTS)[number];

export const STATES_OF: Record<Part, readonly LiveState[]> = {
  waiting: ['pending', 'retrying'],
  processing: ['processing'],
  dead: ['dead'],
  published: ['published'],
};

/** One bounded read of one table. */
export interface Source {
  name: string;
  /** At most this many rows are read; as many as that means that there may be more. */
  limit: number;
  /** Its rows as the base has them. */
  query: Sql;
  parts: Part[];
  /** Rows cut off are the newest waiting ones, or the oldest published and dead ones. */
  ordered: boolean;
  /** How many there are, COUNTED_ROWS at the most, where fewer are read; null where all that are counted are read. */
  counted: Sql | null;
  /** For rows that are fetched: how they are read without fetching all that are looked at; null where they are few, or have no order. */
  walk: Walk | null;
}

/** A scan that leaves at home what is in no figure: rows published before the last fold, most of all. */
export interface Walk {
  /** How many rows there are, the last of them in the order of the key, and the newest times of what is published. */
  ends: Sql<WalkEnds>;
  /** Rows of the base up to that last one, FETCHED_ROWS at the most. */
  rows(edge: string): Sql;
}

export interface WalkEnds {
  n: string | number;
  edge: string | null;
  /** ISO 8601 UTC. */
  newest_created: string | null;
  last_published: string | null;
}
