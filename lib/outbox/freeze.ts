import { errorTemplate } from '@/lib/shared/error-template';
import type { Cause, EventFilter, FrozenPage } from '@/lib/shared/model';
import { GROUPED_ERROR_CHARACTERS } from './dead-letters';
import { listEvents } from './list-events';
import type { Outbox } from './outbox';

/** Rows per step: a list's bounded statement, and an answer of some 100 kB. */
const STEP = 500;

/**
 * The next events of a list as they are now, to be acted on later: what changes after this is told by its version, and
 * what comes into the list afterwards is not among them. With a cause only its own rows, because a filter by text finds
 * others too. Throws Problem `invalid` for a foreign cursor, DatabaseFailure for the database's own.
 */
export async function freezeEvents(outbox: Outbox, filter: EventFilter, cause: Cause | null, cursor?: string): Promise<FrozenPage> {
  const page = await listEvents(outbox, filter, { limit: STEP, ...(cursor === undefined ? {} : { cursor }) });
  const wanted = cause === null ? page.events : page.events.filter((event) => isOfCause(event, cause));
  return {
    events: wanted.map(({ id, version, state, amount, currency }) => ({ id, version, state, amount, currency })),
    nextCursor: page.nextCursor,
    looked: page.searched.rows,
    complete: page.searched.complete,
  };
}

/** Whether an event is counted under this cause: the groups are made of the beginnings of its errors. */
function isOfCause(event: Cause, cause: Cause): boolean {
  if (event.type !== cause.type) return false;
  if (event.error === null || cause.error === null) return event.error === cause.error;
  const beginning = [...event.error].slice(0, GROUPED_ERROR_CHARACTERS).join('');
  return errorTemplate(beginning) === errorTemplate(cause.error);
}
