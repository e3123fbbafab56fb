import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { FrozenEvent } from '@/lib/shared/model';
import type { ProblemInfo } from '@/lib/shared/problems';
import { takeList, type Extent, type Freeze, type WholeList } from './take-list';

/** How far a list has been read; `nothing` stays until it is closed, so that a click is not answered by silence. */
export type Taking = { phase: 'reading'; count: number } | { phase: 'nothing'; whole: boolean } | { phase: 'failed'; problem: ProblemInfo };

export interface WholeListState {
  taking: Taking | null;
  take: (list: WholeList) => void;
  cancel: () => void;
}

const KEY = ['whole-list'];

/**
 * Reads a list and ticks what it holds now; events that come into it afterwards are not among them. `shown` names the list
 * on the screen: a reading ends with it, and so does what was answered.
 */
export function useWholeList(
  freeze: Freeze,
  shown: string,
  onTaken: (outbox: string, events: FrozenEvent[], extent: Extent) => void,
): WholeListState {
  const queries = useQueryClient();
  const [count, setCount] = useState(0);
  const { mutate, reset, data, isPending } = useMutation({
    networkMode: 'always',
    mutationFn: (list: WholeList) =>
      queries.fetchQuery({
        queryKey: KEY,
        queryFn: ({ signal }) => takeList(freeze, list, setCount, signal),
        networkMode: 'always',
        gcTime: 0,
      }),
  });
  const cancel = useCallback(() => {
    void queries.cancelQueries({ queryKey: KEY });
    reset();
  }, [queries, reset]);
  useEffect(() => cancel, [cancel, shown]);
  const take = (list: WholeList) => {
    cancel();
    setCount(0);
    mutate(list, {
      onSuccess: (taken) => {
        if ('events' in taken) onTaken(list.outbox, taken.events, taken.extent);
      },
    });
  };
  const taking = ((): Taking | null => {
    if (isPending) return { phase: 'reading', count };
    if (data === undefined) return null;
    if ('problem' in data) return { phase: 'failed', problem: data.problem };
    return data.events.length === 0 ? { phase: 'nothing', whole: data.extent === 'whole' } : null;
  })();
  return { taking, take, cancel };
}
