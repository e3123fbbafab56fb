import 'server-only';
import { unstable_rethrow } from 'next/navigation';
import type { z } from 'zod';
import type { Permission } from '@/lib/shared/permissions';
import type { ActionResult } from '@/lib/shared/problems';
import { askerOfRequest, authorise, type Asker, type Context } from './context';
import { declare, type EntryDeclaration } from './entry';
import { parseInput } from './input';
import { newReference, problemOf, problemResult } from './problem-response';
import { recordRefusal, type Attempted } from './auth/refusals';

interface ActionDefinition<I, T> {
  id: string;
  permission: Permission;
  input: z.ZodType<I>;
  /** Set on an action that changes something, which is finished before the console ends: what a refused attempt was about, for the audit. */
  attempted?: (input: I) => Attempted;
  run: (context: Context, input: I) => Promise<T>;
}

type ServerAction<I, T> = ((input: I) => Promise<ActionResult<T>>) & { entry: EntryDeclaration };

/** The one way to write a server action: who asks, from our own pages, may they, is the input sane, and only then `run`. */
export function defineAction<I, T>(definition: ActionDefinition<I, T>): ServerAction<I, T> {
  const { id, permission, input, attempted, run } = definition;

  const action = async (raw: I): Promise<ActionResult<T>> => {
    let asker: Asker | null = null;
    try {
      asker = await askerOfRequest(permission);
      const context = authorise(asker, permission, true);
      const ended = attempted === undefined ? null : context.console.underWay.begin();
      try {
        return { ok: true, value: await run(context, parseInput(input, raw)) };
      } finally {
        ended?.();
      }
    } catch (error) {
      // Redirects and the like are Next's own way of answering.
      unstable_rethrow(error);
      const problem = problemOf(error, id, asker?.requestId ?? newReference());
      if (attempted !== undefined) await recordRefusal(asker, id, problem, async () => attempted(parseInput(input, raw)));
      return problemResult(problem);
    }
  };
  return declare(action, { id, permission });
}
