import { createContext, useContext, useState, useSyncExternalStore, type ReactNode } from 'react';

/** The server's time at first paint, so that hydration writes the same text; then the browser's, put right where it is plainly off. */
interface Clock {
  serverNow: number;
  now: () => number;
}

const ClockContext = createContext<Clock | null>(null);

/** Below this the difference is the time the page took to arrive. */
const TOLERATED_SKEW_MS = 30_000;

function createClock(serverNow: number): Clock {
  const skew = serverNow - Date.now();
  const correction = Math.abs(skew) > TOLERATED_SKEW_MS ? skew : 0;
  return { serverNow, now: () => heldNow() + correction };
}

export function ClockProvider({ serverNow, children }: { serverNow: number; children: ReactNode }) {
  // The first value counts: a later one comes with a soft navigation, when the browser's clock is already running.
  const [clock] = useState(() => createClock(serverNow));
  return <ClockContext value={clock}>{children}</ClockContext>;
}

const TICK_MS = 1_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let held = 0;

/** The time stands still between two ticks: what is computed from it twice in one rendering must be equal. */
function heldNow(): number {
  const now = Date.now();
  if (Math.abs(now - held) > TICK_MS) held = now;
  return held;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    held = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** A value recomputed every second from the time in milliseconds; the component renders only when it changes. */
export function useTicking<T extends string | number | boolean | null>(select: (now: number) => T): T {
  const clock = useContext(ClockContext);
  if (!clock) throw new Error('useTicking needs a ClockProvider above it');
  return useSyncExternalStore(
    subscribe,
    () => select(clock.now()),
    () => select(clock.serverNow),
  );
}
