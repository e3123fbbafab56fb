import { useEffect, useState } from 'react';

/** Lines that travel drawn with the page: more than any screen shows at once. */
const FIRST_LINES = 32;
/** How many are added at a time: a frame of work. */
const MORE_LINES = 40;

/** How many of `count` lines to draw: the first ones at once, the others bit by bit, so that the page answers meanwhile. */
export function useShownLines(count: number): number {
  const [shown, setShown] = useState(FIRST_LINES);
  useEffect(() => {
    if (shown >= count) return;
    // Not as a transition: one that the clock of the screen interrupts every second would begin anew each time.
    const timer = setTimeout(() => setShown((before) => before + MORE_LINES));
    return () => clearTimeout(timer);
  }, [shown, count]);
  return Math.min(shown, count);
}
