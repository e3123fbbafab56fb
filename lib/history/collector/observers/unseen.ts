/**
 * Events that came and went between two looks, from the database's statistics: what came, less what waits more than before,
 * less what was seen to go. Where rows are deleted when published, deletes count too, and the smaller of the two is taken:
 * an insert that was rolled back is in the one, a delete that was rolled back in the other. Sessions report seconds late, so
 * sums since the beginning are compared, and what is missing now is found by a later look.
 */
import { z } from 'zod';
import type { ChangeCounts } from '@/lib/database/engine';

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
  /** Over the last looks: how many, and by how much more came than went, at least and at most. */
  looks: z.number(),
  least: z.number().nullable(),
  most: z.number().nullable(),
});
/** Sessions have reported after this many looks: what came beyond what went in all of them was rolled back. */
const REPORTED_LOOKS = 25;
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
    return { events: 0, tally: depth === null ? null : { inserted, deleted, came: 0, went: 0, depth, seenToGo: 0, told: 0, ...NEW_SPELL } };
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
  const told = { ...tally, told: tally.told + events };
  return { events, tally: deletes && depth !== null ? levelled(told, byGrowth - tally.went) : told };
}

const NEW_SPELL = { looks: 0, least: null, most: null };

/**
 * Takes out of the sums what was rolled back: otherwise inserts that were rolled back over days would let as many deletes that are
 * rolled back while a broker is away pass for published.
 */
function levelled(tally: UnseenTally, excess: number): UnseenTally {
  const least = Math.min(tally.least ?? excess, excess);
  const most = Math.max(tally.most ?? excess, excess);
  if (tally.looks + 1 < REPORTED_LOOKS) return { ...tally, looks: tally.looks + 1, least, most };
  return { ...tally, came: tally.came - Math.max(0, least), went: tally.went + Math.min(0, most), ...NEW_SPELL };
}
