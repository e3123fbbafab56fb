/** Which waiting rows tell that a relay tries, and which that it does not. */
import { sql } from 'kysely';
import { isState, latest, milliseconds, type Sql } from '@/lib/outbox/scan/sql-terms';
import type { Base } from './base';

/** Taken this long after it was created, and waiting again: it was tried. Default values of one statement are less apart. */
const TRIED_AFTER_MS = 100;

/** A waiting event that was tried and failed: its counter says so or, where none is kept, the time of its last claim. */
export function failing({ traits, state, attempted, created }: Base): Sql {
  const counted = isState(state, 'retrying');
  if (traits.attempts || !traits.claimTime) return counted;
  return sql`coalesce(${counted} or ${isState(state, 'pending')} and ${milliseconds(created, attempted)} > ${sql.lit(TRIED_AFTER_MS)}, false)`;
}

/** A waiting event that was never tried, as far as the table tells. */
export const fresh = (base: Base): Sql => sql`(${isState(base.state, 'pending')} and not ${failing(base)})`;

/**
 * A fresh event created after everything that has been published: the relay has not come to it yet. An event that was
 * overtaken waits for another reason, and a failed one for its time.
 */
export const due = (base: Base): Sql => sql`(${fresh(base)} and ${base.created} > coalesce(${base.frontier}, '-infinity'))`;

/** The row that waits longest: `head`, one row at the most. */
export const headQuery = ({ state, created }: Base): Sql =>
  sql`select * from base where ${isState(state, 'pending', 'retrying')} and ${created} is not null order by ${created} limit 1`;

/** What tells that a relay tries: locks and attempts leave their transaction's number on the row, also when all was rolled back. */
export function touches(base: Base): { touch: Sql; headTouch: Sql } {
  const { state, written, taken } = base;
  return {
    touch: latest(sql`greatest(${taken}, case when ${failing(base)} then ${written} end)`, isState(state, 'pending', 'retrying')),
    headTouch: sql`(select greatest(${taken}, ${written}) from head)`,
  };
}
