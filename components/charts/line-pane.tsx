import { memo, useMemo } from 'react';
import { Area, Bar, CartesianGrid, ComposedChart, Line, XAxis, YAxis, useXAxisScale, useYAxisScale } from 'recharts';
import { useCursor } from './chart-parts';
import {
  INSET,
  ageAxis,
  durationAxis,
  type BarPane,
  type ChartLine,
  type LinePane,
  type PaneProps,
  type TimeSpan,
  type ValueKey,
} from './chart-model';

type Row = Record<string, number | [number, number] | null> & { time: number };

/** Lines, areas and bars over time: gaps stay gaps, a lone point is a dot. Drawn anew only when its points change. */
export const LinePaneChart = memo(function LinePaneChart({ pane, span, width, height, axis, last }: PaneProps<LinePane | BarPane>) {
  const { lines, format } = pane;
  const { band, scale } = pane.kind === 'lines' ? pane : { band: undefined, scale: 'linear' };
  const values = useMemo(() => valuesOf(span, lines), [span, lines]);
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

function valuesOf({ points }: TimeSpan, lines: readonly ChartLine[]): number[] {
  return points.flatMap((point) => lines.map(({ key }) => point[key]).filter((value) => value !== null));
}

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

/** A known value between two gaps would draw no line at all. */
function loneDots(rows: Row[], { key, hue }: ChartLine) {
  const known = (at: number) => (rows[at]?.[key] ?? null) !== null;
  return function LoneDot({ index = 0, cx, cy }: { index?: number; cx?: number; cy?: number }) {
    const lone = known(index) && !known(index - 1) && !known(index + 1);
    if (!lone || cx === undefined || cy === undefined) return <g key={index} />;
    return <circle key={index} cx={cx} cy={cy} r={2} fill={`var(--oc-${hue})`} />;
  };
}

/** The values under the shared cursor, on their lines. */
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
