import { sql } from 'kysely';
import { ARCHIVE_COLUMNS } from '@/lib/outbox/companions';
import { tableLabel } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import type { LiveState } from '@/lib/shared/states';
import { PLAIN_STEP, type Operation, type Step } from '../operation';
import { unlessPublished } from '../published';

/** Moves rows back unchanged. A pending event comes back as dead if the shape has that, so that no relay publishes it unasked. */
export const restoreOperation: Operation = {
  key: 'restore',
  undo: 'archive',
  sendsAgain: true,
  steps(outbox) {
    const { archive, shape } = outbox;
    if (archive === null) return [];
    // Where a pending event is restored to as dead.
    const asDead = shape.asDead === undefined ? null : shape.asDead.moveTo === 'dead' ? outbox.dead : outbox.main;
    const waiting: LiveState[] = asDead === null ? ['pending', 'retrying'] : ['retrying'];
    const step = (target: Place, match: Step['match']): Step => ({ ...PLAIN_STEP, source: archive, target, version: 'exact', match });
    const unpublished: Step['match'] = (at) => unlessPublished(outbox, at, waiting, cameFrom(outbox.main, waiting)(at));
    const steps = [
      { ...step(outbox.main, cameFrom(outbox.main, ['dead'])), dead: true },
      { ...step(outbox.main, unpublished), warnings: ['relay_will_send_it'] },
      ...(outbox.dead === null ? [] : [{ ...step(outbox.dead, cameFrom(outbox.dead, ['dead'])), dead: true }]),
    ];
    if (asDead === null) return steps;
    const pending = step(asDead, cameFrom(outbox.main, ['pending']));
    return [{ ...pending, dead: true, set: shape.asDead?.set ?? {}, warnings: ['comes_back_as_dead'] }, ...steps];
  },
  refusal(_outbox, state) {
    return state === 'archived' ? null : { code: 'wrong_state', because: 'not_archived' };
  },
};

function cameFrom(place: Place, states: string[]): Step['match'] {
  return (at: PlaceSql) =>
    sql`(${at.column(ARCHIVE_COLUMNS.fromTable)} = ${sql.lit(tableLabel(place.table))} and ${at.column(ARCHIVE_COLUMNS.fromState)} in (${sql.join(states.map((state) => sql.lit(state)))}))`;
}
