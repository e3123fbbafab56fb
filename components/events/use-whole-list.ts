import { useCallback, useEffect, useRef, useState } from 'react';
import { TICKED_EVENTS_MAX, type Cause, type FrozenEvent, type FrozenPage } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';

/** A list to be ticked as a whole: what stands in its screen's URL, or one cause in it. */
export interface WholeList {
  outbox: string;
  /** The filter, as a query string. */
  query: string;
  cause: Cause | null;
}

/** Answers the next stretch of a list as it is now. */
export type Freeze = (input: WholeList & { cursor?: string }) => Promise<ActionResult<FrozenPage>>;

/** How much of a list was ticked: all of it; all that a bounded search found; or the first so many, and it has more. */
export type Extent = 'whole' | 'found' | 'first';

export type Taking = { phase: 'reading'; count: number } | { phase: 'failed'; problem: ProblemInfo };

/** Reads a list to its end and ticks what it holds now; events that come into it afterwards are not among them. */
export function useWholeList(freeze: Freeze | undefined, onTaken: (outbox: string, events: FrozenEvent[], extent: Extent) => void) {
  const [taking, setTaking] = useState<Taking | null>(null);
  const latest = useRef(0);
  useEffect(
    () => () => {
      latest.current = -1;
    },
    [],
  );
  const cancel = useCallback(() => {
    latest.current += 1;
    setTaking(null);
  }, []);
  const take = useCallback(
    async (list: WholeList) => {
      if (freeze === undefined) return;
      latest.current += 1;
      const mine = latest.current;
      const events = new Map<string, FrozenEvent>();
      for (let cursor: string | undefined, extent: Extent | null = null; extent === null;) {
        setTaking({ phase: 'reading', count: events.size });
        const answer = await freeze({ ...list, cursor }).catch(() => null);
        if (latest.current !== mine) return;
        if (answer === null || !answer.ok) {
          setTaking({ phase: 'failed', problem: answer?.problem ?? { code: 'unavailable', detail: 'the console did not answer' } });
          return;
        }
        for (const event of answer.value.events) events.set(event.id, event);
        cursor = answer.value.nextCursor ?? undefined;
        if (events.size >= TICKED_EVENTS_MAX && (cursor !== undefined || events.size > TICKED_EVENTS_MAX)) extent = 'first';
        else if (cursor === undefined) extent = answer.value.complete ? 'whole' : 'found';
        if (extent !== null) {
          setTaking(null);
          onTaken(list.outbox, [...events.values()].slice(0, TICKED_EVENTS_MAX), extent);
        }
      }
    },
    [freeze, onTaken],
  );
  return { taking, take, cancel };
}
