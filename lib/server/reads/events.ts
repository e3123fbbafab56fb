import 'server-only';
import { listEvents, type PageRequest } from '@/lib/outbox/lists/list-events';
import { describeFilterErrors, FILTER_FIELDS, parseEventFilter } from '@/lib/shared/lists/event-filter';
import { type EventsSnapshot, PAGE_LIMIT_DEFAULT, type EventFilter, type EventPage, type OutboxEvent } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { invalid } from '../input';
import { cursorSchema, limitSchema } from '../schemas';
import { filtersHidden, refuseHidden, seesAll, shownCauses, shownEvents, visibleFilter } from './shown';
import { onOutbox } from './outboxes';
import { together } from './together';

const PAGING = ['cursor', 'limit'] as const;
const LISTS: ReadonlySet<string> = new Set(['state', 'type']);

/** The query of an events list. Throws Problem `invalid` naming all unknown, repeated or wrong parameters: none is ignored. */
export function readEventsQuery(params: URLSearchParams): { filter: EventFilter; cursor: string | undefined; limit: number } {
  const { filter, errors } = parseEventFilter(params);
  const fields: Record<string, string> = describeFilterErrors(errors);
  const known: readonly string[] = [...FILTER_FIELDS, ...PAGING];
  for (const name of new Set(params.keys())) {
    if (!known.includes(name)) fields[name] = `unknown; known: ${known.join(', ')}`;
    else if (!LISTS.has(name) && params.getAll(name).length > 1) fields[name] ??= 'write it once';
  }
  const cursor = cursorSchema.safeParse(params.get('cursor') ?? undefined);
  if (!cursor.success) fields.cursor ??= 'not a cursor of this list';
  const limit = limitSchema.safeParse(params.get('limit') ?? undefined);
  if (!limit.success) fields.limit ??= limit.error.issues[0]?.message ?? 'not a limit';
  if (Object.keys(fields).length > 0 || !cursor.success || !limit.success) throw invalid('The list cannot be read', fields);
  return { filter, cursor: cursor.data, limit: limit.data };
}

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

/** The same for a polling list; filter and cursor as in the list's URL. */
export async function readEventsSnapshot(context: Context, outboxId: string, query: string): Promise<EventsSnapshot> {
  const { filter, ...request } = readEventsQuery(new URLSearchParams(query));
  const page = await readEvents(context, outboxId, filter, request);
  return { asOf: page.asOf, page, blocking: await blockedBehind(context, outboxId, page.events), problem: null };
}

/** The one of these events that nothing gets past, as the outbox's verdict names it; nothing is read where none of them waits. */
export async function blockedBehind({ console }: Context, outboxId: string, events: OutboxEvent[]): Promise<EventsSnapshot['blocking']> {
  const waiting = events.filter(({ state }) => state === 'pending' || state === 'retrying');
  const diagnosis = waiting.length === 0 ? null : await console.snapshots.diagnosis(outboxId);
  const { headAt, type, others: count, atLeast } = diagnosis?.evidence.find(({ code }) => code === 'blocking_row')?.values ?? {};
  const found = waiting.find((event) => event.createdAt === headAt && (type === null || event.type === type));
  if (found === undefined || typeof count !== 'number' || count === 0) return null;
  return { id: found.id, others: { count, known: atLeast === 'yes' ? 'capped' : 'exact' } };
}

/** What a link to a list asks for, without filters this actor may not use. If it cannot be read, the screen shows the problem. */
export async function firstEvents(context: Context, outboxId: string, search: URLSearchParams) {
  const { filter, errors } = visibleFilter(context, [outboxId], parseEventFilter(search));
  const cursor = search.get('cursor');
  const shown = { filter, errors, hiddenFilters: filtersHidden(context, [outboxId]), cursor };
  try {
    const page = await readEvents(context, outboxId, filter, { cursor: cursor ?? undefined, limit: PAGE_LIMIT_DEFAULT });
    return { ...shown, initial: { asOf: page.asOf, page, blocking: await blockedBehind(context, outboxId, page.events), problem: null } };
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'not_found') throw error;
    return { ...shown, initial: { asOf: null, page: null, problem: { code: error.code, reference: error.reference } } };
  }
}
