import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import type { Action, ActionResult, ProblemInfo } from '@/lib/shared/problems';

/** The console did not answer, or the connection to it broke. */
export const UNANSWERED: ProblemInfo = { code: 'unavailable', detail: 'the console did not answer' };

class Refused extends Error {
  constructor(readonly problem: ProblemInfo) {
    super(problem.code);
  }
}

interface ChangeOptions<T> {
  /** It is still sending until this is done. */
  onDone?: (value: T) => unknown;
  /** In its place where another person removed the thing meanwhile; left out where that is a problem. */
  onGone?: () => unknown;
}

/** The value of an answer, for a query; a problem is thrown. */
export async function valueOf<T>(answer: Promise<ActionResult<T>>): Promise<T> {
  const result = await answer;
  if (!result.ok) throw new Refused(result.problem);
  return result.value;
}

/** A change through a server action: whether it is being sent, and why the last one failed, also in words. */
export function useChange<I, T>(action: Action<I, T>, { onDone, onGone }: ChangeOptions<T> = {}) {
  const say = useTranslations('problems');
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (input: I) => {
      const answer = await action(input).catch((): ActionResult<T> => ({ ok: false, problem: UNANSWERED }));
      if (answer.ok) await onDone?.(answer.value);
      else if (onGone && answer.problem.code === 'not_found') await onGone();
      else throw new Refused(answer.problem);
    },
  });
  const problem = error instanceof Refused ? error.problem : null;
  return { send: mutate, sending: isPending, problem, problemText: problem && say(problem.code) };
}
