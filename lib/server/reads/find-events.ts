import 'server-only';
import { findEvents as find } from '@/lib/outbox/find-events';
import type { EventState } from '@/lib/shared/states';
import type { Context } from '../context';

/** The events of this id in every outbox; an outbox that is away is passed over. */
export async function findEvents(
  context: Context,
  id: string,
): Promise<{ outbox: string; id: string; type: string | null; state: EventState }[]> {
  const found = await find(context.console.directory, id);
  return found.map(({ outbox, event }) => ({ outbox, id: event.id, type: event.type, state: event.state }));
}
