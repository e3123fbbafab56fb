import type { OutboxEvent } from '@/lib/shared/model';
import { DatabaseFailure } from '@/lib/database/failure';
import { idSpellings } from '@/lib/shared/lists/event-filter';
import { Problem } from '@/lib/shared/problems';
import type { OutboxDirectory } from '../directory';
import { getEvent } from '../rows/get-event';

export interface FoundEvents {
  events: { outbox: string; event: OutboxEvent }[];
  /** Outboxes that did not answer. */
  unread: string[];
}

/** Every outbox that holds an event with this id, as it is written or without spaces around it: looked up by primary key, all at once. */
export async function findEvents(directory: OutboxDirectory, id: string): Promise<FoundEvents> {
  const looked = await Promise.all(
    directory.ids.map(async (outbox): Promise<FoundEvents> => {
      try {
        const bound = await directory.get(outbox);
        const stored = await Promise.all(idSpellings(id).map((spelling) => getEvent(bound, spelling)));
        return { events: stored.flatMap((one) => (one === null ? [] : [{ outbox, event: one.event }])), unread: [] };
      } catch (error) {
        if (error instanceof DatabaseFailure || error instanceof Problem) return { events: [], unread: [outbox] };
        throw error;
      }
    }),
  );
  return { events: looked.flatMap(({ events }) => events), unread: looked.flatMap(({ unread }) => unread) };
}
