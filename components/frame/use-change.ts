import { useMutation } from '@tanstack/react-query';
import type { Action, ActionResult, ProblemInfo } from '@/lib/shared/problems';

/** The console did not answer, or the connection to it broke. */
export const UNANSWERED: ProblemInfo = { code: 'unavailable', detail: 'the console did not answer' };

class Refused extends Error {
  constructor(readonly problem: ProblemInfo) {
    super(problem.code);
  }
}

interface ChangeOptions<T> {
  /** `value` is null if the thing was gone already. It is still sending until this is done. */
  onDone?: (value: T | null) => unknown;
  /** A thing that another person removed meanwhile counts as removed. */
  goneIsDone?: boolean;
}

/** The value of an answer, for a query; a problem is thrown. */
export async function valueOf<T>(answer: Promise<ActionResult<T>>): Promise<T> {
  const result = await answer;
  if (!result.ok) throw new Refused(result.problem);
  return result.value;
}

/** A change through a server action: whether it is being sent, and why the last one failed. */
export function useChange<I, T>(action: Action<I, T>, { onDone, goneIsDone = false }: ChangeOptions<T> = {}) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (input: I) => {
      const answer = await action(input).catch((): ActionResult<T> => ({ ok: false, problem: UNANSWERED }));
      if (!answer.ok && !(goneIsDone && answer.problem.code === 'not_found')) throw new Refused(answer.problem);
      await onDone?.(answer.ok ? answer.value : null);
    },
  });
  return { send: mutate, sending: isPending, problem: error instanceof Refused ? error.problem : null };
}
