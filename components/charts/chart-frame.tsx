import { memo } from 'react';
import { useResizeObserver } from '@mantine/hooks';
import type { Mark } from '@/lib/shared/figures/marks';
import { CHART_HEIGHT, INSET, paneHeights, type Pane, type TimeSpan } from './chart-model';
import { ChartOverlay } from './chart-overlay';
import { HeatPaneChart } from './heat-pane';
import { LinePaneChart } from './line-pane';
import classes from './charts.module.css';

interface ChartFrameProps {
  /** Names the chart for those who hear it. */
  title: string;
  span: TimeSpan;
  panes: Pane[];
  marks: readonly Mark[];
  /** Shows a span of its own: milliseconds since the epoch. */
  onZoom: (from: number, to: number) => void;
}

/** The panes of a chart above each other on one time axis, and over them what all charts of a screen share: cursor, selection, gaps, marks. */
export const ChartFrame = memo(function ChartFrame({ title, span, panes, marks, onZoom }: ChartFrameProps) {
  const [measured, { width }] = useResizeObserver<HTMLDivElement>();
  const heights = paneHeights(panes);
  return (
    <div ref={measured} className={classes.chart} role="group" aria-label={title} style={{ height: CHART_HEIGHT }}>
      {width > 0 && (
        <>
          {/* What is drawn is read step by step from the overlay, and as a table below. */}
          <div aria-hidden>
            {panes.map((pane, index) => {
              const last = index === panes.length - 1;
              const height = (heights[index] ?? 0) + (last ? INSET.bottom : 0);
              return (
                <div key={index} className={classes.pane} style={{ height }}>
                  {pane.kind === 'heat' ? (
                    <HeatPaneChart pane={pane} span={span} width={width} height={height} />
                  ) : (
                    <LinePaneChart pane={pane} span={span} width={width} height={height} last={last} />
                  )}
                </div>
              );
            })}
          </div>
          <ChartOverlay title={title} span={span} panes={panes} marks={marks} width={width} onZoom={onZoom} />
        </>
      )}
    </div>
  );
});
