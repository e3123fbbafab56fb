import { sql } from 'kysely';
import { ARCHIVE_COLUMNS } from '@/lib/outbox/companions';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import type { LiveState } from '@/lib/shared/states';
import type { Operation, Step } from '../operation';
import { unlessPublished } from '../published';

/** Back where it was, as it was. What was pending comes back as dead where the shape has dead, so that no relay sends it unasked. */
export const restoreOperation: Operation = {
  key: 'restore',
  undo: 'archive',
  sendsAgain: true,
  steps(outbox) {
    const { archive, shape } = outbox;
    if (archive === null) return [];
    const common = { source: archive, version: 'exact' as const, olderThanStuckAfter: null, notify: null, call: null };
    const asDead = deadTarget(outbox);
    const waiting: LiveState[] = asDead === null ? ['pending', 'retrying'] : ['retrying'];
    const steps: Step[] = [];
    if (asDead !== null) {
      steps.push({
        ...common,
        target: asDead,
        set: shape.asDead?.set ?? {},
        warnings: ['comes_back_as_dead'],
        match: cameFrom(outbox.main, ['pending']),
      });
    }
    steps.push({ ...common, target: outbox.main, set: {}, warnings: [], match: cameFrom(outbox.main, ['dead']) });
    steps.push({
      ...common,
      target: outbox.main,
      set: {},
      warnings: ['relay_will_send_it'],
      match: (at) => unlessPublished(outbox, at, waiting, cameFrom(outbox.main, waiting)(at)),
    });
    if (outbox.dead !== null) steps.push({ ...common, target: outbox.dead, set: {}, warnings: [], match: cameFrom(outbox.dead, ['dead']) });
    return steps;
  },
  refusal(_outbox, state) {
    return state === 'archived' ? null : { code: 'wrong_state', because: 'not_archived' };
  },
};

/** The table a pending event is put back into as dead; null where the shape or this database has no such thing. */
function deadTarget(outbox: Outbox): Place | null {
  const { asDead } = outbox.shape;
  if (asDead === undefined) return null;
  return asDead.moveTo === 'dead' ? outbox.dead : outbox.main;
}

export function placeName(place: Place): string {
  const { schema, table } = place.table;
  return schema === null ? table : `${schema}.${table}`;
}

function cameFrom(place: Place, states: string[]): Step['match'] {
  return (at: PlaceSql) =>
    sql`(${at.column(ARCHIVE_COLUMNS.fromTable)} = ${sql.lit(placeName(place))} and ${at.column(ARCHIVE_COLUMNS.fromState)} in (${sql.join(states.map((state) => sql.lit(state)))}))`;
}
