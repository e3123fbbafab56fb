import type { OutboxEvent } from '@/lib/shared/model';
import { DatabaseFailure } from '@/lib/database/failure';
import { Problem } from '@/lib/shared/problems';
import type { OutboxDirectory } from './directory';
import { getEvent } from './get-event';

/**
 * Every outbox that holds an event with exactly this id: one look-up by primary key each, all at once. A source that
 * is away is passed over.
 */
export async function findEvents(directory: OutboxDirectory, id: string): Promise<{ outbox: string; event: OutboxEvent }[]> {
  const found = await Promise.all(
    directory.ids.map(async (outboxId) => {
      try {
        const stored = await getEvent(await directory.get(outboxId), id);
        return stored === null ? [] : [{ outbox: outboxId, event: stored.event }];
      } catch (error) {
        if (error instanceof DatabaseFailure || error instanceof Problem) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
