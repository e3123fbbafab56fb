import { useCallback, useEffect, useState } from 'react';
import type { SeenEvent } from '@/lib/shared/batches';
import { INTERVENTION_EVENTS_MAX, type InterventionPreview } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import type { InterventionActions } from './actions';

type Answer = ActionResult<InterventionPreview>;

interface Preview {
  preview: InterventionPreview | null;
  problem: ProblemInfo | null;
  loading: boolean;
  /** Reads the rows as they are now and takes those as seen. */
  lookAgain: () => void;
}

/** What the operation would do to the first of these events, read when the dialog opens. Events without a version (an undo) are looked at afresh first. */
export function usePreview(actions: InterventionActions, outbox: string, operation: string, events: SeenEvent[]): Preview {
  const [round, setRound] = useState<{ number: number; seen: SeenEvent[] }>({
    number: 0,
    seen: events.slice(0, INTERVENTION_EVENTS_MAX),
  });
  const [answer, setAnswer] = useState<{ number: number; answer: Answer } | null>(null);

  useEffect(() => {
    let stopped = false;
    const ask = (seen: SeenEvent[]): Promise<Answer> =>
      actions
        .preview({ outbox, operation, events: seen })
        .catch((): Answer => ({ ok: false, problem: { code: 'unavailable', detail: 'the console did not answer' } }));
    const look = async () => {
      let found = await ask(round.seen);
      if (found.ok && round.seen.some(({ version }) => version === '')) found = await ask(asSeen(found.value));
      if (!stopped) setAnswer({ number: round.number, answer: found });
    };
    void look();
    return () => {
      stopped = true;
    };
  }, [actions, outbox, operation, round]);

  const preview = answer?.answer.ok ? answer.answer.value : null;
  const lookAgain = useCallback(() => {
    setRound((before) => ({ number: before.number + 1, seen: preview === null ? before.seen : asSeen(preview) }));
  }, [preview]);
  return {
    preview,
    problem: answer === null || answer.answer.ok ? null : answer.answer.problem,
    loading: answer === null || answer.number !== round.number,
    lookAgain,
  };
}

function asSeen(preview: InterventionPreview): SeenEvent[] {
  return preview.rows.map(({ event }) => ({ id: event.id, version: event.version }));
}
