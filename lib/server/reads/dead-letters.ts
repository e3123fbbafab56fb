import 'server-only';
import { whyUnread } from '@/lib/outbox/away';
import { countDeadByError } from '@/lib/outbox/dead-letters';
import { freezeEvents } from '@/lib/outbox/freeze';
import { maskErrors } from '@/lib/outbox/hidden-in-errors';
import { outboxInfo, type Outbox } from '@/lib/outbox/outbox';
import { mergeByTemplate } from '@/lib/shared/dead-letter-groups';
import { errorTemplate } from '@/lib/shared/error-template';
import type { Cause, DeadLetterGroup, DeadLetters, EventFilter, FrozenPage, OutboxInfo } from '@/lib/shared/model';
import { unavailable } from '@/lib/shared/measured';
import { can } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';
import { readEvents } from './events';
import { onOutbox } from './source';

export interface DeadLetterRequest {
  order: 'newest' | 'oldest';
  type?: string[];
  error?: string;
  cursor?: string;
  limit: number;
}

/** The dead letters of one outbox: a page of rows, and counts by type and error text. */
export async function readDeadLetters(context: Context, outboxId: string, request: DeadLetterRequest): Promise<DeadLetters> {
  return onOutbox(context, outboxId, async (outbox) => {
    const info = outboxInfo(outbox);
    if (!info.capabilities.states.dead.available)
      return { outbox: info, dead: unavailable(info.capabilities.states.dead.because), groups: [], page: null, problem: null };
    const filter: EventFilter = {
      state: ['dead'],
      order: request.order,
      ...(request.type === undefined ? {} : { type: request.type }),
      ...(request.error === undefined ? {} : { error: request.error }),
    };
    const [summary, groups, page] = await Promise.all([
      context.console.snapshots.summary(outboxId, '1h'),
      countDeadByError(outbox),
      readEvents(context, outboxId, filter, { limit: request.limit, ...(request.cursor === undefined ? {} : { cursor: request.cursor }) }),
    ]);
    const unmask = can(context.actor.role, 'payload:unmask');
    const causes = mergeByTemplate(groups);
    const shown = unmask ? causes : await maskGroups(outbox, causes, groups);
    return { outbox: info, dead: summary.depth.dead, groups: shown, page, problem: null };
  });
}

/**
 * Causes as somebody sees them who sees the page of each one's sample: its error is masked before it becomes a template,
 * as a value with digits in it is not found in one. Causes that then read alike are counted together.
 */
async function maskGroups(outbox: Outbox, causes: DeadLetterGroup[], counted: DeadLetterGroup[]): Promise<DeadLetterGroup[]> {
  const texts = new Map(counted.map((group) => [group.sampleEventId, group.error]));
  const samples = causes.map(({ sampleEventId }) => ({ id: sampleEventId, error: texts.get(sampleEventId) ?? null }));
  const masked = await maskErrors(outbox, samples);
  return mergeByTemplate(
    causes.map((group, index) => {
      const error = masked[index]?.error ?? null;
      const isTemplate = group.error !== samples[index]?.error;
      return { ...group, error: error === null || !isTemplate ? error : errorTemplate(error) };
    }),
  );
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
  request: Omit<DeadLetterRequest, 'limit'> & { cause: Cause | null },
): Promise<FrozenPage> {
  const { cause, cursor, ...filter } = request;
  return onOutbox(context, outboxId, (outbox) => freezeEvents(outbox, { ...filter, state: ['dead'] }, cause, cursor));
}
