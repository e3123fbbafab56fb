/**
 * Events that came and went between two looks, from the database's statistics: what came, less what waits more than before,
 * less what was seen to go. Where rows are deleted when published, deletes count too, and the smaller of the two is taken:
 * an insert that was rolled back is in the one, a delete that was rolled back in the other. Sessions report seconds late, so
 * sums since the beginning are compared, and what is missing now is found by a later look.
 */
import { z } from 'zod';
import type { ChangeCounts } from './table-size';

export const tallySchema = z.object({
  /** What the statistics said last: they fall when they are reset, by hand or by a crash. */
  inserted: z.number(),
  deleted: z.number(),
  /** Since the beginning, or since the last reset. */
  came: z.number(),
  went: z.number(),
  /** How many waited then. */
  depth: z.number(),
  seenToGo: z.number(),
  told: z.number(),
});
export type UnseenTally = z.infer<typeof tallySchema>;

export interface UnseenLook {
  counts: ChangeCounts;
  /** How many wait; null where not all of them were counted. */
  depth: number | null;
  /** Followed events that were seen to go since the last look, wherever they went. */
  seenToGo: number;
  /** Rows are deleted when they are published. */
  deletes: boolean;
}

/** Events that nobody saw since the last look, and what to go on from. Nothing the first time, nor across a reset. */
export function countUnseen(
  last: UnseenTally | null,
  { counts, depth, seenToGo, deletes }: UnseenLook,
): { events: number; tally: UnseenTally | null } {
  const { inserted, deleted } = counts;
  if (last === null || inserted < last.inserted || deleted < last.deleted) {
    return { events: 0, tally: depth === null ? null : { inserted, deleted, came: 0, went: 0, depth, seenToGo: 0, told: 0 } };
  }
  const tally = {
    ...last,
    inserted,
    deleted,
    came: last.came + inserted - last.inserted,
    went: last.went + deleted - last.deleted,
    seenToGo: last.seenToGo + seenToGo,
  };
  const byGrowth = depth === null ? Infinity : tally.came - (depth - tally.depth);
  const gone = deletes ? Math.min(tally.went, byGrowth) : byGrowth;
  const events = Number.isFinite(gone) ? Math.max(0, Math.floor(gone - tally.seenToGo - tally.told)) : 0;
  return { events, tally: { ...tally, told: tally.told + events } };
}
