import { useCallback, useEffect, useState } from 'react';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import { INTERVENTION_EVENTS_MAX, type InterventionPreview } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import type { InterventionActions } from './actions';
import { lookAt, UNANSWERED } from './look-at';

type Answer = ActionResult<InterventionPreview>;

interface Preview {
  preview: InterventionPreview | null;
  /** The events after those shown, as they were seen: an undo's as they were when the dialog opened. Whole once it is not loading. */
  beyond: SeenEvent[];
  problem: ProblemInfo | null;
  loading: boolean;
  /** Reads the rows as they are now and takes those as seen. */
  lookAgain: () => void;
}

/**
 * What the operation would do to the first of these events, read when the dialog opens. Events without a version (an undo)
 * are looked at first, those beyond the ones shown too: what is decided here is about what they were then.
 */
export function usePreview(actions: InterventionActions, outbox: string, operation: string, events: SeenEvent[]): Preview {
  const [round, setRound] = useState<{ number: number; seen: SeenEvent[]; beyond: SeenEvent[] }>({
    number: 0,
    seen: events.slice(0, INTERVENTION_EVENTS_MAX),
    beyond: events.slice(INTERVENTION_EVENTS_MAX),
  });
  const [answer, setAnswer] = useState<{ number: number; answer: Answer; beyond: SeenEvent[] | null } | null>(null);

  useEffect(() => {
    let stopped = false;
    const ask = (seen: SeenEvent[]): Promise<Answer> =>
      actions.preview({ outbox, operation, events: seen }).catch((): Answer => ({ ok: false, problem: UNANSWERED }));
    const look = async () => {
      const { number, seen } = round;
      let found = await ask(seen);
      if (found.ok && seen.some(({ version }) => version === '')) found = await ask(asSeen(found.value));
      // Those shown are worth showing before the others were read.
      if (!stopped) setAnswer({ number, answer: found, beyond: null });
      if (!found.ok) return;
      const beyond = await lookAt(actions, outbox, operation, round.beyond, () => stopped);
      if (!stopped) setAnswer({ number, answer: beyond.ok ? found : beyond, beyond: beyond.ok ? beyond.value : null });
    };
    void look();
    return () => {
      stopped = true;
    };
  }, [actions, outbox, operation, round]);

  const preview = answer?.answer.ok ? answer.answer.value : null;
  const beyond = answer?.beyond ?? round.beyond;
  const lookAgain = useCallback(() => {
    setRound((before) => ({ number: before.number + 1, seen: preview === null ? before.seen : asSeen(preview), beyond }));
  }, [preview, beyond]);
  return {
    preview,
    beyond,
    problem: answer === null || answer.answer.ok ? null : answer.answer.problem,
    loading: answer === null || answer.number !== round.number || (answer.answer.ok && answer.beyond === null),
    lookAgain,
  };
}

function asSeen(preview: InterventionPreview): SeenEvent[] {
  return preview.rows.map(({ event }) => ({ id: event.id, version: event.version }));
}
