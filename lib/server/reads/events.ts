import 'server-only';
import { DatabaseFailure } from '../../database/failure';
import { databaseProblem } from '../../outbox/directory';
import { listEvents, type PageRequest } from '../../outbox/list-events';
import type { EventFilter, EventPage } from '../../shared/model';
import type { Console } from '../console';

/** A page of an outbox's events. Throws Problem `not_found`, `invalid`, `timeout`, `unavailable`. */
export async function readEvents(console: Console, outboxId: string, filter: EventFilter, page: PageRequest): Promise<EventPage> {
  const outbox = await console.directory.get(outboxId);
  try {
    return await listEvents(outbox, filter, page);
  } catch (error) {
    if (error instanceof DatabaseFailure) throw databaseProblem(error, outbox.database.id);
    throw error;
  }
}
