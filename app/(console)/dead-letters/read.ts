import type { DeadLettersSnapshot } from '@/lib/shared/lists/snapshots';
import type { Context } from '@/lib/server/context';
import { readAllDeadLetters, readDeadLetters, unreadDeadLetters } from '@/lib/server/reads/dead-letters';
import { filtersHidden, visibleFilter } from '@/lib/server/reads/shown';
import { readOutboxInfo } from '@/lib/server/reads/outboxes';
import { parseEventFilter, serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import { PAGE_LIMIT_DEFAULT, type DeadLetters } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';

/** Rows per outbox on the screen of all of them. */
const OVERVIEW_ROWS = 10;

/** The dead letters of one outbox or, with null, of all; filter and cursor as the screen's URL writes them. */
export async function readDeadLettersSnapshot(context: Context, outbox: string | null, query: string): Promise<DeadLettersSnapshot> {
  const search = new URLSearchParams(query);
  const { type, error, cause, order = 'newest' } = parseEventFilter(search).filter;
  if (outbox === null) {
    const outboxes = await readAllDeadLetters(context, { order, type, error, cause, limit: OVERVIEW_ROWS });
    return { asOf: oldest(outboxes), outboxes };
  }
  const letters = await readDeadLetters(context, outbox, {
    order,
    type,
    error,
    cause,
    cursor: search.get('cursor') ?? undefined,
    limit: PAGE_LIMIT_DEFAULT,
  });
  return { asOf: oldest([letters]), outboxes: [letters] };
}

/** What a link to the dead letters of one outbox or, with null, of all asks for, as far as it is the asker's to ask. */
export function deadLettersView(context: Context, outbox: string | null, search: URLSearchParams) {
  const outboxes = outbox === null ? context.console.directory.ids : [outbox];
  const { filter, errors } = visibleFilter(context, outboxes, parseEventFilter(search));
  const { type, error, cause, order } = filter;
  const query = serialiseEventFilter({ type, error, cause, order });
  const cursor = outbox === null ? null : search.get('cursor');
  if (cursor !== null) query.set('cursor', cursor);
  return {
    filter: { type, error, cause, order },
    errors,
    hiddenFilters: filtersHidden(context, outboxes),
    cursor,
    query: query.toString(),
  };
}

/** The same for a page's first paint, where a source that cannot be read still has its name and its reason. */
export async function firstDeadLettersSnapshot(context: Context, outbox: string | null, query: string): Promise<DeadLettersSnapshot> {
  try {
    return await readDeadLettersSnapshot(context, outbox, query);
  } catch (error) {
    if (outbox === null || !(error instanceof Problem) || (error.code !== 'timeout' && error.code !== 'unavailable')) throw error;
    return { asOf: null, outboxes: [unreadDeadLetters(await readOutboxInfo(context.console, outbox), error)] };
  }
}

/** When the oldest of several readings was taken; without any, now: there was nothing to read. */
function oldest(letters: readonly DeadLetters[]): string {
  const times = letters.flatMap(({ page }) => (page === null ? [] : [page.asOf])).sort();
  return times[0] ?? new Date().toISOString();
}
