import { useResizeObserver } from '@mantine/hooks';
import { useTranslations } from 'next-intl';
import { memo, useMemo } from 'react';
import { zoneOffsetMs } from '@/lib/shared/text/zoned-time';
import { useFormat } from '../figures/format';
import {
  ageAxis,
  type BarPane,
  CHART_HEIGHT,
  type ChartLine,
  type ChartProps,
  countAxis,
  durationAxis,
  groundPath,
  type HeatPane,
  INSET,
  type LinePane,
  linePath,
  namedTicks,
  paneHeights,
  type PaneProps,
  type Place,
  runsOf,
  tenth,
  timeTicks,
  type TimeSpan,
  type ValueKey,
} from './chart-model';
import { ChartOverlay } from './chart-overlay';
import { useCursor } from './chart-parts';
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

/** Of a step, the share that its bar is wide. */
const BAR_SHARE = 0.8;

/** Lines, areas and bars over time: gaps stay gaps, a lone point is a dot. Redrawn only if its points change. */
export const LinePaneChart = memo(function LinePaneChart({ pane, span, width, height, axis, last }: PaneProps<LinePane | BarPane>) {
  const { lines, format } = pane;
  const { band, scale } = pane.kind === 'lines' ? pane : { band: undefined, scale: 'linear' };
  const right = width - INSET.right;
  const bottom = height - (last ? INSET.bottom : 9);
  const step = (right - INSET.left) / span.points.length;
  const { ticks, yOf, placesOf } = useMemo(() => {
    const values = span.points.flatMap((point) => lines.map(({ key }) => point[key]).filter((value) => value !== null));
    const { domain, ticks: all } =
      scale === 'durations' ? durationAxis(values) : scale === 'ages' ? ageAxis(values) : countAxis(values, height < 100 ? 2 : 3);
    const along = scale === 'durations' ? Math.log : (value: number) => value;
    const [low, high] = [along(domain[0]), along(domain[1])];
    const toY = (value: number) => {
      const share = (along(Math.max(value, domain[0])) - low) / (high - low);
      return tenth(bottom - Math.min(share, 1) * (bottom - INSET.top));
    };
    return {
      ticks: namedTicks(all, toY),
      yOf: toY,
      placesOf: (key: ChartLine['key']) =>
        span.points.map(({ [key]: value }, index) =>
          value === null ? null : { x: tenth(INSET.left + (index + 0.5) * step), y: toY(value) },
        ),
    };
  }, [span, lines, scale, height, bottom, step]);
  return (
    <svg width={width} height={height} className={classes.drawing}>
      {ticks.map((tick) => (
        <g key={tick}>
          <path d={`M${INSET.left} ${yOf(tick)}H${right}`} stroke="var(--oc-line)" />
          <text x={INSET.left - 8} y={yOf(tick)} dy="0.35em" textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {band && <path d={bandPath(placesOf(band.low), placesOf(band.high))} fill={`var(--oc-${band.hue})`} fillOpacity={0.14} />}
      {lines.map((line) => {
        const { key, hue, dash, filled } = line;
        const color = `var(--oc-${hue})`;
        const runs = known(placesOf(key));
        if (pane.kind === 'bars') return <path key={key} d={barPath(runs.flat(), step, bottom)} fill={color} fillOpacity={0.55} />;
        return (
          <g key={key} stroke={color} strokeWidth={1.75} fill="none">
            {filled && <path d={runs.map((run) => groundPath(run, bottom)).join('')} stroke="none" fill={color} fillOpacity={0.12} />}
            <path d={runs.map(linePath).join('')} strokeDasharray={dash} strokeLinejoin="round" />
            {/* A known value between two gaps: a line of no length, with round ends. */}
            <path d={runs.map((run) => (run.length === 1 ? `${linePath(run)}h0` : '')).join('')} strokeWidth={4} strokeLinecap="round" />
          </g>
        );
      })}
      <path d={`M${INSET.left} ${bottom}H${right}`} stroke="var(--oc-line)" />
      {last && <TimeTicks axis={axis} span={span} width={right - INSET.left} y={bottom} />}
      {pane.kind === 'lines' && <CursorDots lines={lines} span={span} placesOf={placesOf} />}
    </svg>
  );
});

const known = (places: readonly (Place | null)[]): Place[][] =>
  runsOf(places, (place) => place !== null).map(([first, end]) => places.slice(first, end).filter((place) => place !== null));

const barPath = (places: readonly Place[], step: number, bottom: number): string => {
  const wide = tenth(Math.max(1, step * BAR_SHARE));
  return places.map(({ x, y }) => `M${tenth(x - wide / 2)} ${bottom}V${y}h${wide}V${bottom}Z`).join('');
};

/** Between two lines, where both are known. */
function bandPath(low: readonly (Place | null)[], high: readonly (Place | null)[]): string {
  return runsOf([...low.keys()], (index) => low[index] !== null && high[index] !== null)
    .map(([first, end]) => [...low.slice(first, end), ...high.slice(first, end).toReversed()].filter((place) => place !== null))
    .map((ring) => `${linePath(ring)}Z`)
    .join('');
}

function TimeTicks({ axis, span: { from, to }, width, y }: Pick<PaneProps<never>, 'axis' | 'span' | 'width'> & { y: number }) {
  return axis.ticks.map((at) => (
    <text key={at} x={INSET.left + ((at - from) / (to - from)) * width} y={y + 16} textAnchor="middle">
      {axis.tickText(at)}
    </text>
  ));
}

function CursorDots({ lines, span, placesOf }: { lines: ChartLine[]; span: TimeSpan; placesOf: (key: ValueKey) => (Place | null)[] }) {
  const { index } = useCursor(span);
  return lines.map(({ key, hue }) => {
    const place = index === null ? null : (placesOf(key)[index] ?? null);
    return place && <circle key={key} cx={place.x} cy={place.y} r={3} fill={`var(--oc-${hue})`} stroke="var(--oc-surface)" />;
  });
}

/** Shades of one colour, by events per cell; each shade is one path of many cells, so that a chart has few elements. */
const SHADES = 6;

/** Events by time and duration, darker with more. Each bound is a line; the row above the last bound is for longer durations. */
export const HeatPaneChart = memo(function HeatPaneChart({ pane, span, width, height, axis }: PaneProps<HeatPane>) {
  const words = useTranslations('outbox.charts');
  const { boundsMs, format } = pane;
  const { points } = span;
  const plot = { width: width - INSET.left - INSET.right, height: height - INSET.top - INSET.bottom };
  const used = useMemo(() => usedRows(points.map(({ heat }) => heat)), [points]);
  const rows = used[1] - used[0];
  const rowHeight = plot.height / rows;
  const most = Math.max(1, ...points.flatMap(({ heat }) => heat ?? []));
  const bottom = INSET.top + plot.height;
  const paths = useMemo(() => {
    const cells: string[][] = Array.from({ length: SHADES }, () => []);
    const step = plot.width / points.length;
    points.forEach(({ heat }, index) => {
      heat?.forEach((count, row) => {
        if (count === 0) return;
        const y = bottom - (row - used[0] + 1) * rowHeight;
        const wide = tenth(Math.max(1, step - 0.5));
        cells[shadeOf(count, most)]?.push(`M${tenth(INSET.left + index * step)} ${tenth(y)}h${wide}v${tenth(rowHeight - 1)}h-${wide}z`);
      });
    });
    return cells.map((shade) => shade.join(''));
  }, [points, plot.width, bottom, rowHeight, used, most]);
  return (
    <>
      <svg width={width} height={height} className={classes.drawing}>
        {boundsMs.slice(used[0], used[1]).map((bound, index) => {
          const y = bottom - (index + 1) * rowHeight;
          // If rows are narrow, only every nth bound is named.
          const named = rowHeight >= 14 || index % Math.ceil(14 / rowHeight) === 0;
          return (
            <g key={bound}>
              <path d={`M${INSET.left} ${y}H${width - INSET.right}`} stroke="var(--oc-line)" strokeOpacity={named ? 1 : 0.5} />
              {named && index + 1 < rows && (
                <text x={INSET.left - 8} y={y} dy="0.35em" textAnchor="end">
                  {format(bound)}
                </text>
              )}
            </g>
          );
        })}
        {paths.map((d, shade) => (
          <path key={shade} d={d} fill="var(--oc-accent)" fillOpacity={(shade + 1) / SHADES} />
        ))}
        <path d={`M${INSET.left} ${bottom}H${width - INSET.right}`} stroke="var(--oc-line)" />
        <TimeTicks axis={axis} span={span} width={plot.width} y={bottom} />
      </svg>
      <p className={classes.heatScale} style={{ right: INSET.right }}>
        {words('heatScale', { most })}
        <span aria-hidden>
          {Array.from({ length: SHADES }, (_, shade) => (
            <i key={shade} style={{ opacity: (shade + 1) / SHADES }} />
          ))}
        </span>
      </p>
    </>
  );
});

/** Logarithmic, so that a few events are visible next to thousands. */
const shadeOf = (count: number, most: number) => Math.min(SHADES - 1, Math.floor((Math.log(count + 1) / Math.log(most + 1)) * SHADES));

/** The rows to show: those with events, and one more on either side if there is one. */
function usedRows(heats: (number[] | null)[]): [number, number] {
  const length = heats.find((heat) => heat !== null)?.length ?? 1;
  const filled = Array.from({ length }, (_, row) => row).filter((row) => heats.some((heat) => (heat?.[row] ?? 0) > 0));
  return [Math.max(0, (filled[0] ?? 0) - 1), Math.min(length, (filled.at(-1) ?? length - 1) + 2)];
}
