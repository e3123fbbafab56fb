import { useMemo } from 'react';
import { useFormat } from '../figures/use-format';
import { INSET, timeTicks, zoneOffsetMs, type TimeSpan } from './chart-model';
import classes from './charts.module.css';

/** What the values of a pane count, over its axis. */
export function PaneUnit({ unit }: { unit: string }) {
  return <span className={classes.unit}>{unit}</span>;
}

const DAY_SECONDS = 86_400;
/** What a text on the axis takes, with room around it. */
const TICK_PX = 56;

/** Round times of the reader's zone, and how they are said: the time of day, and the date where a day begins. */
export function useTimeAxis({ from, to }: TimeSpan, width: number): { ticks: number[]; tickText: (at: number) => string } {
  const format = useFormat();
  return useMemo(() => {
    const plot = width - INSET.left - INSET.right;
    const all = timeTicks(from, to, zoneOffsetMs(to, format.timeZone));
    const stride = Math.ceil((all.length * TICK_PX) / plot);
    // A text at the very end would be cut.
    const ticks = all.filter((at, index) => index % stride === 0 && ((to - at) / (to - from)) * plot >= 4);
    const tickText = (at: number) => {
      const clock = format.tick(at, 0);
      return clock === '00:00' ? format.tick(at, 2 * DAY_SECONDS) : clock;
    };
    return { ticks, tickText };
  }, [from, to, format, width]);
}
