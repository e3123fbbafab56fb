import type { OutboxEvent } from '@/lib/shared/model';
import { DatabaseFailure } from '@/lib/database/failure';
import { Problem } from '@/lib/shared/problems';
import type { OutboxDirectory } from './directory';
import { getEvent } from './get-event';

export interface FoundEvents {
  events: { outbox: string; event: OutboxEvent }[];
  /** Outboxes that did not answer. */
  unread: string[];
}

/** Every outbox that holds an event with exactly this id: one look-up by primary key each, all at once. */
export async function findEvents(directory: OutboxDirectory, id: string): Promise<FoundEvents> {
  const looked = await Promise.all(
    directory.ids.map(async (outbox): Promise<FoundEvents> => {
      try {
        const stored = await getEvent(await directory.get(outbox), id);
        return { events: stored === null ? [] : [{ outbox, event: stored.event }], unread: [] };
      } catch (error) {
        if (error instanceof DatabaseFailure || error instanceof Problem) return { events: [], unread: [outbox] };
        throw error;
      }
    }),
  );
  return { events: looked.flatMap(({ events }) => events), unread: looked.flatMap(({ unread }) => unread) };
}
