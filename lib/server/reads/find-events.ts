import 'server-only';
import { findEvents as find } from '@/lib/outbox/lists/find-events';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import type { EventState } from '@/lib/shared/states';
import type { Context } from '../context';
import { seesAll } from './shown';

/** The events of this id in every outbox, and the outboxes that did not answer. */
export async function findEvents(
  context: Context,
  id: string,
): Promise<{ events: { outbox: string; id: string; type: string | null; state: EventState }[]; unread: string[] }> {
  const { events, unread } = await find(context.console.directory, id);
  const typeOf = (outbox: string, type: string | null): string | null =>
    seesAll(context) || !hiddenFields(context.console.directory.settings(outbox)).has('type') ? type : null;
  return {
    events: events.map(({ outbox, event }) => ({ outbox, id: event.id, type: typeOf(outbox, event.type), state: event.state })),
    unread,
  };
}
