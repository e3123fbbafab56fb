import 'server-only';
import { findEvents as find } from '@/lib/outbox/find-events';
import type { EventState } from '@/lib/shared/states';
import type { Context } from '../context';

/** The events of this id in every outbox, and the outboxes that did not answer. */
export async function findEvents(
  context: Context,
  id: string,
): Promise<{ events: { outbox: string; id: string; type: string | null; state: EventState }[]; unread: string[] }> {
  const { events, unread } = await find(context.console.directory, id);
  return { events: events.map(({ outbox, event }) => ({ outbox, id: event.id, type: event.type, state: event.state })), unread };
}
