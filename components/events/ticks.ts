import { useCallback, useMemo, useRef, useState } from 'react';
import { type FrozenEvent, INTERVENTION_EVENTS_MAX, type OutboxEvent } from '@/lib/shared/model';

export type Ticks = ReturnType<typeof useTicks>;

interface Ticked {
  /** The ticked events as they were when they were ticked, with versions. */
  rows: ReadonlyMap<string, FrozenEvent>;
  /** The last tick was over the limit and was refused. */
  full: boolean;
}

const NONE: Ticked = { rows: new Map(), full: false };

/** Ticks on rows; they survive paging, because each keeps its event. */
export function useTicks() {
  const [{ rows, full }, setTicked] = useState(NONE);
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

  return useMemo(
    () => ({ events: [...rows.values()], has: (id: string) => rows.has(id), toggle, toggleAll, clear, full }),
    [rows, toggle, toggleAll, clear, full],
  );
}

function put(before: Ticked, events: readonly OutboxEvent[], on: boolean): Ticked {
  const rows = new Map(before.rows);
  for (const event of events) {
    const { id, version } = event;
    if (!on) rows.delete(id);
    else if (version !== null) rows.set(id, rows.get(id) ?? { ...event, version });
  }
  return rows.size > INTERVENTION_EVENTS_MAX ? { ...before, full: true } : { rows, full: false };
}
