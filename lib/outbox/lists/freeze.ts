import { isSameCause } from '@/lib/shared/lists/cause';
import type { Cause, EventFilter, FrozenPage } from '@/lib/shared/model';
import { listEvents } from './list-events';
import type { Outbox } from '../outbox';

/** Rows per step: a list's bounded statement, and an answer of some 100 kB. */
const STEP = 500;

/**
 * The next events of a list as they are now, to be acted on later: what changes after this is told by its version, and
 * what comes into the list afterwards is not among them. With a cause only its own rows: those without a type or
 * an error no filter names. Throws Problem `invalid` for a foreign cursor, DatabaseFailure for the database's own.
 */
export async function freezeEvents(outbox: Outbox, filter: EventFilter, cause: Cause | null, cursor?: string): Promise<FrozenPage> {
  const page = await listEvents(outbox, filter, { limit: STEP, ...(cursor === undefined ? {} : { cursor }) });
  const wanted = cause === null ? page.events : page.events.filter((event) => isSameCause(event, cause));
  return {
    events: wanted.map(({ id, version, state, amount, currency }) => ({ id, version, state, amount, currency })),
    nextCursor: page.nextCursor,
    looked: page.searched.rows,
    complete: page.searched.complete,
  };
}
