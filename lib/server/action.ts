import 'server-only';
import { unstable_rethrow } from 'next/navigation';
import type { z } from 'zod';
import type { Permission } from '@/lib/shared/permissions';
import type { ActionResult } from '@/lib/shared/problems';
import { askerOfRequest, authorise, type Asker, type Context } from './context';
import { declare } from './entry';
import { parseInput } from './input';
import { newReference, problemOf, problemResult } from './problem-response';
import { recordRefusal, type Attempted } from './auth/refusals';

interface ActionDefinition<I, T> {
  id: string;
  permission: Permission;
  input: z.ZodType<I>;
  /** For an action that changes something, which the console finishes before it ends: what a refused attempt was about, for the audit. */
  attempted?: (input: I) => Attempted;
  run: (context: Context, input: I) => Promise<T>;
}

/** The only way to define a server action: checks who asks, from our own pages, with which permission and input, and only then runs. */
export function defineAction<I, T>({ id, permission, input, attempted, run }: ActionDefinition<I, T>) {
  const action = async (raw: I): Promise<ActionResult<T>> => {
    let asker: Asker | null = null;
    try {
      asker = await askerOfRequest(permission);
      const context = authorise(asker, permission, true);
      const work = async () => run(context, parseInput(input, raw));
      return { ok: true, value: await (attempted === undefined ? work() : context.console.underWay.run(work)) };
    } catch (error) {
      // Next uses errors for redirects and the like.
      unstable_rethrow(error);
      const problem = problemOf(error, id, asker?.requestId ?? newReference());
      if (attempted !== undefined) await recordRefusal(asker, id, problem, async () => attempted(parseInput(input, raw)));
      return problemResult(problem);
    }
  };
  return declare(action, { id, permission });
}

/** An action that only reads, for whoever sees outboxes. */
export const defineSnapshot = <I, T>(id: string, input: z.ZodType<I>, run: ActionDefinition<I, T>['run']) =>
  defineAction({ id, permission: 'outbox:read', input, run });
