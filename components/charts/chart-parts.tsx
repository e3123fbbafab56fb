import { createContext, useContext, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { Mark } from '@/lib/shared/figures/marks';
import type { ActionResult } from '@/lib/shared/problems';
import { type TimeSpan, type ChartLine, type DragSelection } from './chart-model';

interface CursorState {
  /** Start of the step that is read, in milliseconds since the epoch; null while none is. */
  at: number | null;
  /** Steps being selected. */
  dragged: DragSelection | null;
}

interface CursorStore {
  get: () => CursorState;
  set: (state: CursorState) => void;
  subscribe: (listener: () => void) => () => void;
}

const NONE: CursorState = { at: null, dragged: null };

function createCursorStore(): CursorStore {
  let state = NONE;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set: (next) => {
      if (next.at === state.at && next.dragged?.anchor === state.dragged?.anchor && next.dragged?.at === state.dragged?.at) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const CursorContext = createContext<CursorStore | null>(null);

/** One cursor and one selection for all charts of a screen; moving it renders what follows it, never the charts themselves. */
export function ChartCursorProvider({ children }: { children: ReactNode }) {
  const [store] = useState(createCursorStore);
  return <CursorContext value={store}>{children}</CursorContext>;
}

export function useCursorStore(): CursorStore {
  const store = useContext(CursorContext);
  if (!store) throw new Error('A chart needs a ChartCursorProvider above it');
  return store;
}

/** Where the shared cursor is. */
export function useCursor(): CursorState {
  const { subscribe, get } = useCursorStore();
  return useSyncExternalStore(subscribe, get, () => NONE);
}

/** The step of these points that the shared cursor is at; null when it is at none of them. */
export function useCursorIndex({ from, to, stepMs }: TimeSpan): number | null {
  const { at } = useCursor();
  return at === null || at < from || at >= to ? null : Math.floor((at - from) / stepMs);
}

/** Takes a mark off the charts; then the screen is read again. */
export interface TakeOff {
  action: (mark: string) => Promise<ActionResult<Mark>>;
  onDone: () => Promise<void>;
}

const MarkTools = createContext<TakeOff | null>(null);

/** Who may take marks off the charts below it, by what. */
export const MarkToolsProvider = MarkTools.Provider;

/** null for who may not. */
export const useTakeOff = (): TakeOff | null => useContext(MarkTools);

/** A line or bars as they are drawn: their hue, and a line's dashes. */
export function LineSign({ line: { hue, dash, barred } }: { line: ChartLine }) {
  return (
    <svg width={20} height={8} aria-hidden>
      {barred ? (
        <path d="M4 8V2H8V8ZM11 8V0H15V8Z" fill={`var(--oc-${hue})`} />
      ) : (
        <path d="M1 4H19" stroke={`var(--oc-${hue})`} strokeWidth={2} strokeDasharray={dash} />
      )}
    </svg>
  );
}
