import { useCallback, useMemo, useRef, useState } from 'react';
import { TICKED_EVENTS_MAX, type FrozenEvent, type OutboxEvent } from '@/lib/shared/model';
import type { TakeScope } from './take-list';

export interface Ticks {
  /** The ticked events as they were seen when they were ticked, versions included. */
  events: FrozenEvent[];
  has: (id: string) => boolean;
  /** Ticks or unticks one; with `range`, everything shown between the one ticked last and it is ticked. */
  toggle: (event: OutboxEvent, range: boolean, shown: readonly OutboxEvent[]) => void;
  /** Ticks all of these, or unticks them when all of them are. */
  toggleAll: (shown: readonly OutboxEvent[]) => void;
  clear: () => void;
  /** Ticks exactly these, which are so much of a list. */
  fill: (events: readonly FrozenEvent[], extent: TakeScope) => void;
  /** Another list is on the screen: what is ticked stays, and is no longer so much of it. */
  leaveList: () => void;
  /** How much of a list is ticked; null once single events were. */
  extent: TakeScope | null;
  /** The last tick went over the limit and was not taken. */
  full: boolean;
}

interface Ticked {
  rows: ReadonlyMap<string, FrozenEvent>;
  full: boolean;
  extent: TakeScope | null;
}

const NONE: Ticked = { rows: new Map(), full: false, extent: null };

/** Ticks on the rows in view; they outlive paging, because each keeps the row it was put on. */
export function useTicks(): Ticks {
  const [{ rows, full, extent }, setTicked] = useState(NONE);
  const anchor = useRef<string | null>(null);

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

  const leaveList = useCallback(() => setTicked((before) => (before.extent === null ? before : { ...before, extent: null })), []);

  return useMemo(
    () => ({ events: [...rows.values()], has: (id) => rows.has(id), toggle, toggleAll, clear, fill, leaveList, extent, full }),
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
