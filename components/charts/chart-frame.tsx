import { memo, useMemo } from 'react';
import { useResizeObserver } from '@mantine/hooks';
import { zoneOffsetMs } from '@/lib/shared/text/zoned-time';
import { useFormat } from '../figures/use-format';
import { CHART_HEIGHT, type ChartProps, INSET, paneHeights, timeTicks, type TimeSpan } from './chart-model';
import { ChartOverlay } from './chart-overlay';
import { HeatPaneChart, LinePaneChart } from './panes';
import classes from './charts.module.css';

/** The panes of a chart on one time axis, and above them what all charts of a screen share: cursor, selection, gaps, marks. */
export const ChartFrame = memo(function ChartFrame(chart: ChartProps) {
  const { title, span, panes } = chart;
  const [measured, { width }] = useResizeObserver<HTMLDivElement>();
  const heights = paneHeights(panes);
  const axis = useTimeAxis(span, width);
  return (
    <div ref={measured} className={classes.chart} role="group" aria-label={title} style={{ height: CHART_HEIGHT }}>
      {width > 0 && (
        <>
          {/* Screen readers get the values from the overlay, and from a table below. */}
          <div aria-hidden>
            {panes.map((pane, index) => {
              const last = index === panes.length - 1;
              const frame = { span, width, axis, last, height: (heights[index] ?? 0) + (last ? INSET.bottom : 0) };
              return (
                <div key={index} className={classes.pane} style={{ height: frame.height }}>
                  <span className={classes.unit}>{pane.unit}</span>
                  {pane.kind === 'heat' ? <HeatPaneChart {...frame} pane={pane} /> : <LinePaneChart {...frame} pane={pane} />}
                </div>
              );
            })}
          </div>
          <ChartOverlay {...chart} width={width} />
        </>
      )}
    </div>
  );
});

/** Width of a text on the axis, with space around it. */
const TICK_PX = 56;

/** Ticks at round times of the reader's zone, as time of day, or as the date where a day begins. */
function useTimeAxis({ from, to }: TimeSpan, width: number) {
  const format = useFormat();
  return useMemo(() => {
    const plot = width - INSET.left - INSET.right;
    const all = timeTicks(from, to, zoneOffsetMs(to, format.timeZone));
    const stride = Math.ceil((all.length * TICK_PX) / plot);
    // A text at the very end would be cut.
    const ticks = all.filter((at, index) => index % stride === 0 && ((to - at) / (to - from)) * plot >= 4);
    const tickText = (at: number) => {
      const clock = format.minute(at);
      return clock === '00:00' ? format.day(at) : clock;
    };
    return { ticks, tickText };
  }, [from, to, format, width]);
}
