import 'server-only';
import { whyUnread, outboxInfo } from '@/lib/outbox/outbox-info';
import { DEAD_SCANNED_MAX, newestDead } from '@/lib/outbox/lists/dead-letters';
import { freezeEvents } from '@/lib/outbox/lists/list-events';
import { groupByCause } from '@/lib/shared/lists/dead-letter-groups';
import { parseEventFilter, serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import {
  type DeadLettersSnapshot,
  PAGE_LIMIT_DEFAULT,
  type Cause,
  type DeadLetters,
  type EventFilter,
  type FrozenPage,
  type OutboxInfo,
} from '@/lib/shared/model';
import { unavailable } from '@/lib/shared/figures/measured';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { readEvents } from './events';
import { onOutbox, readOutboxInfo } from './outboxes';
import { filtersHidden, refuseHidden, seesAll, shownCauses, visibleFilter } from './shown';
import { together } from './together';

export interface DeadLetterRequest extends Pick<EventFilter, 'type' | 'error' | 'cause'> {
  order: 'newest' | 'oldest';
  cursor?: string;
  limit: number;
}

/** The dead letters of one outbox: a page of rows, and counts by cause, both as this actor may see them. */
export async function readDeadLetters(context: Context, outboxId: string, request: DeadLetterRequest): Promise<DeadLetters> {
  const { cursor, limit, ...filter } = request;
  refuseHidden(context, outboxId, { type: filter.type, error: filter.error });
  return onOutbox(context, outboxId, async (outbox) => {
    const info = outboxInfo(outbox);
    const state = info.capabilities.states.dead;
    if (!state.available) return { outbox: info, dead: unavailable(state.because), groups: [], searched: null, page: null, problem: null };
    const [summary, causes, page] = await Promise.all([
      context.console.snapshots.summary(outboxId, '1h'),
      together(outbox, ['groups', context.actor.role], async () => {
        const rows = await newestDead(outbox, !seesAll(context));
        const searched = { rows: rows.length, complete: rows.length < DEAD_SCANNED_MAX };
        return { groups: groupByCause(outboxId, await shownCauses(context, outbox, rows)), searched };
      }),
      readEvents(context, outboxId, { ...filter, state: ['dead'] }, { limit, cursor }),
    ]);
    return { outbox: info, dead: summary.depth.dead, ...causes, page, problem: null };
  });
}

const NOT_READ: readonly Problem['code'][] = ['timeout', 'unavailable', 'not_found', 'invalid'];

/** The same for every outbox, newest first; one that cannot be read reports why, and the others are still shown. */
export async function readAllDeadLetters(context: Context, request: Omit<DeadLetterRequest, 'cursor'>): Promise<DeadLetters[]> {
  const { directory, snapshots } = context.console;
  return Promise.all(
    directory.ids.map((id) =>
      readDeadLetters(context, id, request).catch(async (error: unknown) => {
        // The request is correct here: `invalid` and `not_found` are about the outbox.
        if (!(error instanceof Problem) || !NOT_READ.includes(error.code)) throw error;
        return unreadDeadLetters((await snapshots.outbox(id, '1h')).outbox, error);
      }),
    ),
  );
}

/** The dead letters of an outbox that could not be read: none, and why. */
function unreadDeadLetters(outbox: OutboxInfo, problem: Problem): DeadLetters {
  const code = problem.code === 'timeout' ? 'timeout' : 'unavailable';
  return { outbox, dead: unavailable(whyUnread(problem)), groups: [], searched: null, page: null, problem: code };
}

/** The part of a URL's filter that lists of dead letters have. */
function deadFilter(search: URLSearchParams) {
  const { type, error, cause, order = 'newest' } = parseEventFilter(search).filter;
  return { type, error, cause, order };
}

/** Next dead events of a list or cause; operators see errors unmasked. Throws Problem `not_found`, `invalid`, `timeout`, `unavailable`. */
export function freezeDeadLetters(
  context: Context,
  outboxId: string,
  search: URLSearchParams,
  of: Cause | null,
  cursor: string | undefined,
): Promise<FrozenPage> {
  return onOutbox(context, outboxId, (outbox) => freezeEvents(outbox, { ...deadFilter(search), state: ['dead'] }, of, cursor));
}

const OVERVIEW_ROWS = 10;

/** The dead letters of one outbox or, with null, of all; filter and cursor as in the screen's URL. */
export async function readDeadLettersSnapshot(
  context: Context,
  outboxId: string | null,
  search: URLSearchParams,
): Promise<DeadLettersSnapshot> {
  const filter = deadFilter(search);
  const page = { cursor: search.get('cursor') ?? undefined, limit: PAGE_LIMIT_DEFAULT };
  const outboxes =
    outboxId === null
      ? await readAllDeadLetters(context, { ...filter, limit: OVERVIEW_ROWS })
      : [await readDeadLetters(context, outboxId, { ...filter, ...page })];
  // The time of the oldest reading; now if there is none.
  const [asOf = new Date().toISOString()] = outboxes.flatMap((letters) => letters.page?.asOf ?? []).sort();
  return { asOf, outboxes };
}

/** What a link to the dead letters of one outbox or all asks for, without filters this actor may not use. */
export async function firstDeadLetters(context: Context, outboxId: string | null, search: URLSearchParams) {
  const outboxes = outboxId === null ? context.console.directory.ids : [outboxId];
  const { filter: asked, errors } = visibleFilter(context, outboxes, parseEventFilter(search));
  const { type, error, cause, order } = asked;
  const filter = { type, error, cause, order };
  const cursor = outboxId === null ? null : search.get('cursor');
  const query = serialiseEventFilter(filter);
  if (cursor !== null) query.set('cursor', cursor);
  const initial = await readDeadLettersSnapshot(context, outboxId, query).catch(async (thrown: unknown): Promise<DeadLettersSnapshot> => {
    // An outbox that cannot be read is still shown, with its name and the reason.
    if (outboxId === null || !(thrown instanceof Problem) || (thrown.code !== 'timeout' && thrown.code !== 'unavailable')) throw thrown;
    return { asOf: null, outboxes: [unreadDeadLetters(await readOutboxInfo(context.console, outboxId), thrown)] };
  });
  return { outbox: outboxId, filter, errors, hiddenFilters: filtersHidden(context, outboxes), cursor, initial };
}
