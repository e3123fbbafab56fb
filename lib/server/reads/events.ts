import 'server-only';
import { listEvents, type PageRequest } from '@/lib/outbox/lists/list-events';
import type { EventFilter, EventPage } from '@/lib/shared/model';
import type { Context } from '../context';
import { refuseHidden } from './hidden-filters';
import { seesAll, shownCauses, shownEvents } from './shown';
import { onOutbox } from './source';
import { together } from './together';

/** A page of an outbox's events, masked for this actor. Throws Problem `not_found`, `forbidden`, `invalid`, `timeout`, `unavailable`. */
export async function readEvents(context: Context, outboxId: string, filter: EventFilter, page: PageRequest): Promise<EventPage> {
  refuseHidden(context, outboxId, filter);
  return onOutbox(context, outboxId, (outbox) =>
    together(outbox, ['events', context.actor.role, filter, page], async () => {
      const found = await listEvents(outbox, filter, page, seesAll(context) ? null : (rows) => shownCauses(context, outbox, rows));
      return { ...found, events: await shownEvents(context, outbox, found.events) };
    }),
  );
}
