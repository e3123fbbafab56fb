import { useCallback, useEffect, useRef, useState } from 'react';
import type { FrozenEvent } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import { takeList, type Extent, type Freeze, type WholeList } from './take-list';

/** How far a list has been read; `nothing` stays until it is closed, so that a click is not answered by silence. */
export type Taking = { phase: 'reading'; count: number } | { phase: 'nothing'; whole: boolean } | { phase: 'failed'; problem: ProblemInfo };

/**
 * Reads a list and ticks what it holds now; events that come into it afterwards are not among them. `shown` names the list
 * on the screen: a reading ends with it, and so does what was said of it.
 */
export function useWholeList(freeze: Freeze, shown: string, onTaken: (outbox: string, events: FrozenEvent[], extent: Extent) => void) {
  const [taking, setTaking] = useState<Taking | null>(null);
  const latest = useRef(0);
  const cancel = useCallback(() => {
    latest.current += 1;
    setTaking(null);
  }, []);
  useEffect(() => cancel, [cancel, shown]);
  const take = useCallback(
    async (list: WholeList) => {
      latest.current += 1;
      const mine = latest.current;
      const taken = await takeList(freeze, list, {
        onCount: (count) => setTaking({ phase: 'reading', count }),
        gone: () => latest.current !== mine,
      });
      if (taken === null) return;
      if ('problem' in taken) {
        setTaking({ phase: 'failed', problem: taken.problem });
        return;
      }
      setTaking(taken.events.length === 0 ? { phase: 'nothing', whole: taken.extent === 'whole' } : null);
      onTaken(list.outbox, taken.events, taken.extent);
    },
    [freeze, onTaken],
  );
  return { taking, take, cancel };
}
