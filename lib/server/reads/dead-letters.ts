import 'server-only';
import { whyUnread } from '@/lib/outbox/unreachable';
import { newestDead } from '@/lib/outbox/lists/dead-letters';
import { freezeEvents } from '@/lib/outbox/lists/list-events';
import { outboxInfo } from '@/lib/outbox/outbox';
import { groupByCause } from '@/lib/shared/lists/dead-letter-groups';
import type { Cause, DeadLetters, EventFilter, FrozenPage, OutboxInfo } from '@/lib/shared/model';
import { unavailable } from '@/lib/shared/figures/measured';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { readEvents } from './events';
import { refuseHidden, seesAll, shownCauses } from './shown';
import { onOutbox } from './outboxes';
import { together } from './together';

export interface DeadLetterRequest {
  order: 'newest' | 'oldest';
  type?: string[];
  error?: string;
  cause?: string;
  cursor?: string;
  limit: number;
}

/** The dead letters of one outbox: a page of rows, and counts by cause, both as this actor may see them. */
export async function readDeadLetters(context: Context, outboxId: string, request: DeadLetterRequest): Promise<DeadLetters> {
  refuseHidden(context, outboxId, { type: request.type, error: request.error });
  return onOutbox(context, outboxId, async (outbox) => {
    const info = outboxInfo(outbox);
    if (!info.capabilities.states.dead.available)
      return { outbox: info, dead: unavailable(info.capabilities.states.dead.because), groups: [], page: null, problem: null };
    const filter: EventFilter = {
      state: ['dead'],
      order: request.order,
      ...(request.type === undefined ? {} : { type: request.type }),
      ...(request.error === undefined ? {} : { error: request.error }),
      ...(request.cause === undefined ? {} : { cause: request.cause }),
    };
    const [summary, groups, page] = await Promise.all([
      context.console.snapshots.summary(outboxId, '1h'),
      together(outbox, ['groups', context.actor.role], async () =>
        groupByCause(outboxId, await shownCauses(context, outbox, await newestDead(outbox, !seesAll(context)))),
      ),
      readEvents(context, outboxId, filter, { limit: request.limit, ...(request.cursor === undefined ? {} : { cursor: request.cursor }) }),
    ]);
    return { outbox: info, dead: summary.depth.dead, groups, page, problem: null };
  });
}

/** The same for every outbox, newest first; one that cannot be read says so and empties nothing else. */
export async function readAllDeadLetters(context: Context, request: Omit<DeadLetterRequest, 'cursor'>): Promise<DeadLetters[]> {
  const { directory } = context.console;
  return Promise.all(
    directory.ids.map(async (id): Promise<DeadLetters> => {
      try {
        return await readDeadLetters(context, id, request);
      } catch (error) {
        // Nothing of the request can be wrong here: whatever is invalid or not found is the outbox.
        if (!(error instanceof Problem) || !NOT_READ.includes(error.code)) throw error;
        return unreadDeadLetters((await context.console.snapshots.outbox(id, '1h')).outbox, error);
      }
    }),
  );
}

const NOT_READ: readonly Problem['code'][] = ['timeout', 'unavailable', 'not_found', 'invalid'];

/** What is told of the dead letters of an outbox that could not be read, and why. */
export function unreadDeadLetters(outbox: OutboxInfo, problem: Problem): DeadLetters {
  const code = problem.code === 'timeout' ? 'timeout' : 'unavailable';
  return { outbox, dead: unavailable(whyUnread(problem)), groups: [], page: null, problem: code };
}

/**
 * The next dead events of a list, or of one cause in it, as they are now. For operators, who see errors unmasked: a cause
 * is told by the error's own text. Throws Problem `not_found`, `invalid`, `timeout`, `unavailable`.
 */
export function freezeDeadLetters(
  context: Context,
  outboxId: string,
  request: Omit<DeadLetterRequest, 'limit'> & { of: Cause | null },
): Promise<FrozenPage> {
  const { of, cursor, ...filter } = request;
  return onOutbox(context, outboxId, (outbox) => freezeEvents(outbox, { ...filter, state: ['dead'] }, of, cursor));
}
