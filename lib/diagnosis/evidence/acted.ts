/** What operators did of late: named beside every verdict, and no sign of what a relay does. */
import type { Evidence } from '@/lib/shared/figures/verdicts';
import { actsIn, figuresIn, type Aggregates, type Past } from '@/lib/live/reading';
import { ACTED_MAX } from '@/lib/outbox/acted';
import { count, isState } from '@/lib/outbox/scan/sql-terms';
import { sql } from 'kysely';
import { ageMs, fact, type Circumstances } from './circumstances';

/** What was done longer ago is not named. */
const NAMED_MS = 900_000;
/** An intervention is committed within this time of the moment its record names, or after a reading that saw it coming. */
const COMMIT_MS = 5_000;

/** Dead rows that an operator had changed when they were dead, or restored; those of them that were sent again; and how many more at most were not read. */
export const TOUCHED_DEAD: Aggregates<{ touched: number; again: number; unread: number }> = {
  owner: 'died_again',
  figures({ state, revived }) {
    const dead = isState(state, 'dead');
    if (revived === null) return { touched: sql.lit(0), again: sql.lit(0), unread: sql.lit(0) };
    return {
      touched: count(sql`(${dead} and ${revived} is not null)`),
      again: count(sql`(${dead} and ${sql.ref('resent')})`),
      unread: sql`(select count(distinct a.id) from acted as a where a.dead = 1 and not exists (select 1 from base as b where b.id = a.id))`,
    };
  },
};

/** Whether an operator acted between two readings, as `newest` knows: what changed there is not the relay's doing alone. */
export const actedWithin = (newest: Past, before: Past, after: Past): boolean =>
  actsIn(newest).some(({ at }) => Date.parse(at) > Date.parse(before.asOf) - COMMIT_MS && at <= after.asOf);

/** The last kind of action of the last minutes, with who did it; and what died again, whenever it was sent. */
export function actedFacts({ reading, now }: Circumstances): Evidence[] {
  if (reading === null) return [];
  const { again: died = 0 } = figuresIn(reading, TOUCHED_DEAD);
  // Of more interventions the older ones are not told.
  const isCut = actsIn(reading).length >= ACTED_MAX;
  return [
    ...lastActed(reading, now, isCut),
    ...(died === 0 ? [] : [fact('died_again', { count: died, atLeast: reading.deadDetailed && !isCut ? 'no' : 'yes' })]),
  ];
}

function lastActed(reading: Past, now: number, isCut: boolean): Evidence[] {
  const acts = actsIn(reading).filter(({ at, count: events }) => events > 0 && ageMs(at, now) <= NAMED_MS);
  const [newest] = acts;
  if (newest === undefined) return [];
  const { operation, actor, at: actedAt } = newest;
  const events = acts.reduce((sum, act) => (act.operation === operation && act.actor === actor ? sum + act.count : sum), 0);
  const atLeast = isCut && acts.length >= ACTED_MAX ? 'yes' : 'no';
  return [fact('operator_acted', { actor, operation, count: events, atLeast, actedAt, ageMs: ageMs(actedAt, now) })];
}
