import { useTranslations } from 'next-intl';
import { memo, useMemo } from 'react';
import { Area, Bar, CartesianGrid, ComposedChart, Line, useXAxisScale, useYAxisScale, XAxis, YAxis } from 'recharts';
import {
  ageAxis,
  type BarPane,
  type ChartLine,
  durationAxis,
  type HeatPane,
  INSET,
  type LinePane,
  type PaneProps,
  tenth,
  type TimeSpan,
  type ValueKey,
} from './chart-model';
import { useCursor } from './chart-parts';
import classes from './charts.module.css';

type Row = Record<string, number | [number, number] | null> & { time: number };

/** Lines, areas and bars over time: gaps stay gaps, a lone point is a dot. Redrawn only if its points change. */
export const LinePaneChart = memo(function LinePaneChart({ pane, span, width, height, axis, last }: PaneProps<LinePane | BarPane>) {
  const { lines, format } = pane;
  const { band, scale } = pane.kind === 'lines' ? pane : { band: undefined, scale: 'linear' };
  const values = useMemo(
    () => span.points.flatMap((point) => lines.map(({ key }) => point[key]).filter((value) => value !== null)),
    [span, lines],
  );
  const fixed = scale === 'linear' ? null : scale === 'ages' ? ageAxis(values) : durationAxis(values);
  const floor = fixed?.domain[0] ?? 0;
  const rows = useMemo(() => rowsOf(span, lines, band, floor), [span, lines, band, floor]);
  const text = { fill: 'var(--oc-dimmed)', fontSize: 12 };
  return (
    <ComposedChart
      data={rows}
      width={width}
      height={height}
      accessibilityLayer={false}
      margin={{ top: INSET.top, right: INSET.right, bottom: last ? 0 : 8, left: 0 }}
    >
      <CartesianGrid stroke="var(--oc-line)" vertical={false} />
      <XAxis
        dataKey="time"
        type="number"
        scale="time"
        domain={[span.from, span.to]}
        ticks={axis.ticks}
        tickFormatter={axis.tickText}
        interval={0}
        height={last ? INSET.bottom : 1}
        tick={last ? text : false}
        tickLine={false}
        stroke="var(--oc-line)"
      />
      <YAxis
        width={INSET.left}
        axisLine={false}
        tickLine={false}
        tick={text}
        tickFormatter={format}
        interval={0}
        {...(fixed === null
          ? // An axis from zero to zero would have no height.
            { domain: [0, values.every((value) => value === 0) ? 1 : 'auto'], allowDecimals: false, tickCount: height < 100 ? 3 : 4 }
          : { ...fixed, scale: scale === 'ages' ? ('linear' as const) : ('log' as const), allowDataOverflow: true })}
      />
      {band && <Area {...strokeOf({ key: 'band', hue: band.hue })} stroke="none" fill={`var(--oc-${band.hue})`} fillOpacity={0.14} />}
      {lines.map((line) =>
        pane.kind === 'bars' ? (
          <Bar key={line.key} dataKey={line.key} fill={`var(--oc-${line.hue})`} fillOpacity={0.55} isAnimationActive={false} />
        ) : line.filled ? (
          <Area key={line.key} {...strokeOf(line)} dot={loneDots(rows, line)} fill={`var(--oc-${line.hue})`} fillOpacity={0.12} />
        ) : (
          <Line key={line.key} {...strokeOf(line)} dot={loneDots(rows, line)} />
        ),
      )}
      {pane.kind === 'lines' && <CursorDots rows={rows} lines={lines} span={span} />}
    </ComposedChart>
  );
});

const strokeOf = ({ key, hue, dash }: Pick<ChartLine, 'hue' | 'dash'> & { key: string }) => ({
  dataKey: key,
  type: 'linear' as const,
  stroke: `var(--oc-${hue})`,
  strokeWidth: 1.75,
  strokeDasharray: dash,
  activeDot: false as const,
  connectNulls: false,
  isAnimationActive: false,
});

function rowsOf({ points, from, stepMs }: TimeSpan, lines: readonly ChartLine[], band: LinePane['band'], floor: number): Row[] {
  const plotted = (value: number | null): number | null => (value === null ? null : Math.max(value, floor));
  return points.map((point, index) => {
    const row: Row = { time: from + (index + 0.5) * stepMs };
    for (const { key } of lines) row[key] = plotted(point[key]);
    if (band) {
      const [low, high] = [plotted(point[band.low]), plotted(point[band.high])];
      row.band = low === null || high === null ? null : [low, high];
    }
    return row;
  });
}

/** A known value between two gaps would not be drawn at all. */
function loneDots(rows: Row[], { key, hue }: ChartLine) {
  const known = (at: number) => (rows[at]?.[key] ?? null) !== null;
  return function LoneDot({ index = 0, cx, cy }: { index?: number; cx?: number; cy?: number }) {
    const lone = known(index) && !known(index - 1) && !known(index + 1);
    if (!lone || cx === undefined || cy === undefined) return <g key={index} />;
    return <circle key={index} cx={cx} cy={cy} r={2} fill={`var(--oc-${hue})`} />;
  };
}

/** The values at the shared cursor, as dots on their lines. */
function CursorDots({ rows, lines, span }: { rows: Row[]; lines: readonly ChartLine[]; span: TimeSpan }) {
  const { index } = useCursor(span);
  const x = useXAxisScale();
  const y = useYAxisScale();
  const row = index === null ? undefined : rows[index];
  if (row === undefined || !x || !y) return null;
  return (
    <g>
      {lines.map(({ key, hue }: { key: ValueKey; hue: string }) => {
        const value = row[key];
        if (typeof value !== 'number') return null;
        const [cx, cy] = [x(row.time), y(value)];
        return cx === undefined || cy === undefined ? null : (
          <circle key={key} cx={cx} cy={cy} r={3} fill={`var(--oc-${hue})`} stroke="var(--oc-surface)" />
        );
      })}
    </g>
  );
}

/** Shades of one colour, by events per cell; each shade is one path of many cells, so that a chart has few elements. */
const SHADES = 6;

/** Events by time and duration, darker with more. Each bound is a line; the row above the last bound is for longer durations. */
export const HeatPaneChart = memo(function HeatPaneChart({ pane, span, width, height, axis }: PaneProps<HeatPane>) {
  const words = useTranslations('outbox.charts');
  const { boundsMs, format } = pane;
  const { points, from, to } = span;
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
      <svg width={width} height={height} className={classes.heat}>
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
        {axis.ticks.map((at) => (
          <text key={at} x={INSET.left + ((at - from) / (to - from)) * plot.width} y={bottom + 16} textAnchor="middle">
            {axis.tickText(at)}
          </text>
        ))}
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
function shadeOf(count: number, most: number): number {
  return Math.min(SHADES - 1, Math.floor((Math.log(count + 1) / Math.log(most + 1)) * SHADES));
}

/** The rows to show: those with events, and one more on either side if there is one. */
function usedRows(heats: (number[] | null)[]): [number, number] {
  const length = heats.find((heat) => heat !== null)?.length ?? 1;
  const filled = Array.from({ length }, (_, row) => row).filter((row) => heats.some((heat) => (heat?.[row] ?? 0) > 0));
  return [Math.max(0, (filled[0] ?? 0) - 1), Math.min(length, (filled.at(-1) ?? length - 1) + 2)];
}
