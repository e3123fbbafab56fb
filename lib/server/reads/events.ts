import 'server-only';
import { maskErrors } from '@/lib/outbox/hidden-in-errors';
import { listEvents, type PageRequest } from '@/lib/outbox/list-events';
import { presentEvent } from '@/lib/outbox/mask';
import type { EventFilter, EventPage } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import type { Context } from '../context';
import { onOutbox } from './source';

/** A page of an outbox's events, masked for this actor. Throws Problem `not_found`, `invalid`, `timeout`, `unavailable`. */
export function readEvents(context: Context, outboxId: string, filter: EventFilter, page: PageRequest): Promise<EventPage> {
  return onOutbox(context, outboxId, async (outbox) => {
    const found = await listEvents(outbox, filter, page);
    if (can(context.actor.role, 'payload:unmask')) return found;
    const events = await maskErrors(outbox, found.events);
    return { ...found, events: events.map((event) => presentEvent(outbox, event, false)) };
  });
}
