import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Cause, type FrozenEvent, type FrozenPage, type OutboxEvent, TICKED_EVENTS_MAX } from '@/lib/shared/model';
import type { ActionResult, ProblemInfo } from '@/lib/shared/problems';
import { UNANSWERED } from '../frame/use-change';

export type Ticks = ReturnType<typeof useTicks>;

interface Ticked {
  /** The ticked events as they were when they were ticked, with versions. */
  rows: ReadonlyMap<string, FrozenEvent>;
  /** The last tick was over the limit and was refused. */
  full: boolean;
  /** How much of a list is ticked; null if single events were. */
  extent: TakeScope | null;
}

const NONE: Ticked = { rows: new Map(), full: false, extent: null };

/** Ticks on rows; they survive paging, because each keeps its event. */
export function useTicks() {
  const [{ rows, full, extent }, setTicked] = useState(NONE);
  const anchor = useRef<string | null>(null);

  /** Ticks or unticks one; with `range`, ticks everything shown between the last ticked one and it. */
  const toggle = useCallback((event: OutboxEvent, range: boolean, shown: readonly OutboxEvent[]) => {
    const from = range ? shown.findIndex(({ id }) => id === anchor.current) : -1;
    const to = shown.findIndex(({ id }) => id === event.id);
    anchor.current = event.id;
    if (from === -1 || to === -1) setTicked((before) => put(before, [event], !before.rows.has(event.id)));
    else setTicked((before) => put(before, shown.slice(Math.min(from, to), Math.max(from, to) + 1), true));
  }, []);
  const toggleAll = useCallback((shown: readonly OutboxEvent[]) => {
    setTicked((before) => put(before, shown, !shown.every(({ id }) => before.rows.has(id))));
  }, []);
  const clear = useCallback(() => {
    anchor.current = null;
    setTicked((before) => (before.rows.size === 0 && !before.full ? before : NONE));
  }, []);

  const fill = useCallback((events: readonly FrozenEvent[], much: TakeScope) => {
    anchor.current = null;
    setTicked({ rows: new Map(events.map((event) => [event.id, event])), full: false, extent: much });
  }, []);

  /** Another list is shown: ticks stay, but `extent` does not apply to it. */
  const leaveList = useCallback(() => setTicked((before) => (before.extent === null ? before : { ...before, extent: null })), []);

  return useMemo(
    () => ({ events: [...rows.values()], has: (id: string) => rows.has(id), toggle, toggleAll, clear, fill, leaveList, extent, full }),
    [rows, toggle, toggleAll, clear, fill, leaveList, extent, full],
  );
}

function put(before: Ticked, events: readonly OutboxEvent[], on: boolean): Ticked {
  const rows = new Map(before.rows);
  for (const event of events) {
    const { id, version } = event;
    if (!on) rows.delete(id);
    else if (version !== null) rows.set(id, rows.get(id) ?? { ...event, version });
  }
  return rows.size > TICKED_EVENTS_MAX ? { ...before, full: true } : { rows, full: false, extent: null };
}

/** One click reads at most this many rows in this many requests: a rare cause would otherwise read all of a large table. */
export const ROWS_LOOKED_AT_MAX = 1_000_000;
export const STRETCHES_MAX = 100;

/** A list to tick as a whole: the query of its screen's URL, or the group of one cause in it. */
interface WholeList {
  outbox: string;
  query: string;
  of: Cause | null;
}

export type Freeze = (input: WholeList & { cursor?: string }) => Promise<ActionResult<FrozenPage>>;

/** How much of a list was ticked: all of it; all that a bounded search found; or the first ones, and it has more. */
export type TakeScope = 'whole' | 'found' | 'first';

export interface Taken {
  events: FrozenEvent[];
  extent: TakeScope;
}

/** Reads a list as it is now, request by request, to its end or a limit. Throws if it is aborted. */
export async function takeList(
  freeze: Freeze,
  list: WholeList,
  onCount: (count: number) => void,
  signal: AbortSignal,
): Promise<Taken | { problem: ProblemInfo }> {
  const events = new Map<string, FrozenEvent>();
  const taken = (extent: TakeScope): Taken => ({ events: [...events.values()].slice(0, TICKED_EVENTS_MAX), extent });
  let cursor: string | undefined;
  let scanned = 0;
  for (let stretch = 1; ; stretch += 1) {
    onCount(events.size);
    const answer = await freeze({ ...list, cursor }).catch(() => null);
    signal.throwIfAborted();
    if (answer === null) return { problem: UNANSWERED };
    if (!answer.ok) return { problem: answer.problem };
    const { value } = answer;
    for (const event of value.events) events.set(event.id, event);
    scanned += value.looked;
    cursor = value.nextCursor ?? undefined;
    if (events.size > TICKED_EVENTS_MAX || (events.size === TICKED_EVENTS_MAX && cursor !== undefined)) return taken('first');
    if (cursor === undefined) return taken(value.complete ? 'whole' : 'found');
    if (scanned >= ROWS_LOOKED_AT_MAX || stretch === STRETCHES_MAX) return taken('found');
  }
}

/** How far a list has been read; `nothing` stays until it is closed, so that the click has a visible result. */
export type Taking = { phase: 'reading'; count: number } | { phase: 'nothing'; whole: boolean } | { phase: 'failed'; problem: ProblemInfo };

export type WholeListState = ReturnType<typeof useWholeList>;

const KEY = ['whole-list'];

/** Reads a list and ticks its events. `shown` identifies the list on screen: if it changes, the reading ends and its result is closed. */
export function useWholeList(freeze: Freeze, shown: string, onTaken: (outbox: string, events: FrozenEvent[], extent: TakeScope) => void) {
  const queries = useQueryClient();
  const [count, setCount] = useState(0);
  const { mutate, reset, data, isPending } = useMutation({
    mutationFn: (list: WholeList) =>
      queries.fetchQuery({ queryKey: KEY, queryFn: ({ signal }) => takeList(freeze, list, setCount, signal), gcTime: 0 }),
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
