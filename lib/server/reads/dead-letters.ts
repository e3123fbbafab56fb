import 'server-only';
import { whyUnread, outboxInfo } from '@/lib/outbox/outbox-info';
import { byCount, type DeadLetterGroup, type DeadLettersSnapshot, type DeadLetters } from '@/lib/shared/dead-letter-groups';
import { parseEventFilter, serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import { PAGE_LIMIT_DEFAULT, type EventFilter } from '@/lib/shared/model';
import { unavailable } from '@/lib/shared/figures/measured';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { causesOf } from './causes';
import { readEvents } from './events';
import { onOutbox, readOutboxInfo } from './outboxes';
import { filtersHidden, refuseHidden, visibleFilter } from './shown';

type DeadLetterRequest = Pick<EventFilter, 'type' | 'error' | 'cause' | 'order'> & { cursor?: string; limit: number };

type CountedLetters = DeadLetters & { groups: DeadLetterGroup[]; more: number; others: number };

/** Among all outboxes, causes are this old at most while as many events are dead. */
const KEPT_MS = 15_000;

/** The dead letters of one outbox: a page of rows, and counts by cause, both as this actor may see them. `among` others: none dead, none read. */
export async function readDeadLetters(
  context: Context,
  outboxId: string,
  asked: DeadLetterRequest,
  among = false,
): Promise<CountedLetters> {
  const { cursor, limit, ...filter } = asked;
  refuseHidden(context, outboxId, { type: filter.type, error: filter.error });
  return onOutbox(context, outboxId, async (outbox) => {
    const info = outboxInfo(outbox);
    const state = info.capabilities.states.dead;
    if (!state.available) return { ...NONE_READ, outbox: info, dead: unavailable(state.because), problem: null };
    const counted = context.console.snapshots.summary(outboxId, '1h');
    const known = among ? (await counted).depth.dead : null;
    if (known?.count === 0 && known.known === 'exact') return { ...NONE_READ, outbox: info, dead: known, problem: null };
    const [{ depth }, { groups, more, others, searched }, page] = await Promise.all([
      counted,
      causesOf(context, outbox, known?.count ?? null, among ? KEPT_MS : 0),
      readEvents(context, outboxId, { ...filter, state: ['dead'] }, { limit, cursor }),
    ]);
    return { outbox: info, dead: depth.dead, groups, more, others, searched, page, problem: null };
  });
}

const NOT_READ: readonly Problem['code'][] = ['timeout', 'unavailable', 'not_found', 'invalid'];

/** The same for every outbox, newest first; one that cannot be read reports why, and the others are still shown. */
export async function readAllDeadLetters(context: Context, request: Omit<DeadLetterRequest, 'cursor'>): Promise<CountedLetters[]> {
  const { directory, snapshots } = context.console;
  return Promise.all(
    directory.ids.map((id) =>
      readDeadLetters(context, id, request, true).catch(async (error: unknown) => {
        // The request is correct here: `invalid` and `not_found` are about the outbox.
        if (!(error instanceof Problem) || !NOT_READ.includes(error.code)) throw error;
        return unreadDeadLetters((await snapshots.outbox(id, '1h')).outbox, error);
      }),
    ),
  );
}

const NONE_READ = { groups: [], more: 0, others: 0, searched: null, page: null };

function unreadDeadLetters(outbox: DeadLetters['outbox'], problem: Problem): CountedLetters {
  return { ...NONE_READ, outbox, dead: unavailable(whyUnread(problem)), problem: problem.code === 'timeout' ? 'timeout' : 'unavailable' };
}

const deadFilter = ({ type, error, cause, order }: EventFilter): EventFilter => ({ type, error, cause, order });

const OVERVIEW_ROWS = 10;

/** The dead letters of one outbox or, with null, of all; filter and cursor as in the screen's URL. */
export async function readDeadLettersSnapshot(
  context: Context,
  outboxId: string | null,
  search: URLSearchParams,
): Promise<DeadLettersSnapshot> {
  const filter = deadFilter(parseEventFilter(search).filter);
  const page = { cursor: search.get('cursor') ?? undefined, limit: PAGE_LIMIT_DEFAULT };
  const letters =
    outboxId === null
      ? await readAllDeadLetters(context, { ...filter, limit: OVERVIEW_ROWS })
      : [await readDeadLetters(context, outboxId, { ...filter, ...page })];
  // The time of the oldest reading; now if there is none.
  const [asOf = new Date().toISOString()] = letters.flatMap(({ page: shown }) => shown?.asOf ?? []).sort();
  return { asOf, ...withCauses(letters) };
}

/** Most causes shown at once; rows of others are in the lists. */
const CAUSES = 50;

function withCauses(letters: CountedLetters[]): Omit<DeadLettersSnapshot, 'asOf'> {
  const groups = letters.flatMap((one) => one.groups).sort(byCount);
  const more = letters.reduce((sum, one) => sum + one.more, Math.max(0, groups.length - CAUSES));
  return {
    outboxes: letters.map(({ groups: _groups, more: _more, others: _others, ...rows }) => rows),
    groups: groups.slice(0, CAUSES),
    moreGroups: more,
    otherEvents: letters.reduce((sum, { others }) => sum + others, 0),
  };
}

/** What a link to the dead letters of one outbox or all asks for, without filters this actor may not use. */
export async function firstDeadLetters(context: Context, outboxId: string | null, search: URLSearchParams) {
  const outboxes = outboxId === null ? context.console.directory.ids : [outboxId];
  const { filter: asked, errors } = visibleFilter(context, outboxes, parseEventFilter(search));
  const filter = deadFilter(asked);
  const cursor = outboxId === null ? null : search.get('cursor');
  const query = serialiseEventFilter(filter);
  if (cursor !== null) query.set('cursor', cursor);
  const initial = await readDeadLettersSnapshot(context, outboxId, query).catch(async (thrown: unknown): Promise<DeadLettersSnapshot> => {
    // An outbox that cannot be read is still shown, with its name and the reason.
    if (outboxId === null || !(thrown instanceof Problem) || (thrown.code !== 'timeout' && thrown.code !== 'unavailable')) throw thrown;
    return { asOf: null, ...withCauses([unreadDeadLetters(await readOutboxInfo(context.console, outboxId), thrown)]) };
  });
  return { outbox: outboxId, filter, errors, hiddenFilters: filtersHidden(context, outboxes), cursor, initial };
}
