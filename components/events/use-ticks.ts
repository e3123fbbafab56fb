import { useCallback, useMemo, useRef, useState } from 'react';
import { INTERVENTION_EVENTS_MAX, type OutboxEvent } from '@/lib/shared/model';

export interface Ticks {
  /** The ticked events as they were seen when they were ticked, versions included. */
  events: OutboxEvent[];
  has: (id: string) => boolean;
  /** Ticks or unticks one; with `range`, everything shown between the one ticked last and it is ticked. */
  toggle: (event: OutboxEvent, range: boolean, shown: readonly OutboxEvent[]) => void;
  /** Ticks all of these, or unticks them when all of them are. */
  toggleAll: (shown: readonly OutboxEvent[]) => void;
  clear: () => void;
  /** The last tick went over the limit of one intervention and was not taken. */
  full: boolean;
}

interface Ticked {
  rows: ReadonlyMap<string, OutboxEvent>;
  full: boolean;
}

const NONE: Ticked = { rows: new Map(), full: false };

/** Ticks on the rows in view; they outlive paging, because each keeps the row it was put on. */
export function useTicks(): Ticks {
  const [{ rows, full }, setTicked] = useState(NONE);
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

  return useMemo(
    () => ({ events: [...rows.values()], has: (id) => rows.has(id), toggle, toggleAll, clear, full }),
    [rows, toggle, toggleAll, clear, full],
  );
}

function put(before: Ticked, events: readonly OutboxEvent[], on: boolean): Ticked {
  const rows = new Map(before.rows);
  for (const event of events) {
    if (on) rows.set(event.id, rows.get(event.id) ?? event);
    else rows.delete(event.id);
  }
  return rows.size > INTERVENTION_EVENTS_MAX ? { rows: before.rows, full: true } : { rows, full: false };
}
