'use client';

import { useMemo } from 'react';
import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { useFormat } from '../figures/use-format';
import { CHART_HEIGHT, timeTicks, zoneOffsetMs, type ChartLine, type ChartPoint, type TimeChartProps } from './chart-model';
import classes from './charts.module.css';

/** The charts of a screen share one cursor. */
const SYNC_ID = 'outbox';
const AXIS_WIDTH = 64;

type Plotted = ChartPoint & { time: number };

/** Lines over time: gaps stay gaps, a lone point is a dot, the axes say their units. */
export function TimeChart({ label, points, stepSeconds, lines, unit, format: say, beside }: TimeChartProps) {
  const format = useFormat();
  const data = useMemo<Plotted[]>(() => points.map((point) => ({ ...point, time: Date.parse(point.at) })), [points]);
  const from = data[0]?.time ?? 0;
  const to = data.at(-1)?.time ?? 0;
  const ticks = useMemo(() => timeTicks(from, to, zoneOffsetMs(to, format.timeZone)), [from, to, format.timeZone]);
  const axis = { stroke: 'var(--oc-line)', tick: { fill: 'var(--oc-dimmed)', fontSize: 12 }, tickLine: false } as const;
  return (
    <div className={classes.chart} role="group" aria-label={label}>
      <span className={classes.unit} style={{ width: AXIS_WIDTH }}>
        {unit}
      </span>
      <ResponsiveContainer width="100%" height={CHART_HEIGHT} initialDimension={{ width: 480, height: CHART_HEIGHT }}>
        <LineChart data={data} syncId={SYNC_ID} syncMethod="value" margin={{ top: 20, right: 16, bottom: 0, left: 0 }} aria-label={label}>
          <CartesianGrid stroke="var(--oc-line)" vertical={false} />
          <XAxis
            {...axis}
            dataKey="time"
            type="number"
            scale="time"
            domain={[from, to]}
            ticks={ticks}
            interval="equidistantPreserveStart"
            minTickGap={16}
            tickFormatter={(time: number) => format.tick(time, points.length * stepSeconds)}
          />
          <YAxis
            {...axis}
            axisLine={false}
            width={AXIS_WIDTH}
            domain={[0, 'auto']}
            allowDecimals={false}
            tickCount={4}
            tickFormatter={say}
          />
          <Tooltip
            isAnimationActive={false}
            cursor={{ stroke: 'var(--oc-dimmed)', strokeDasharray: '2 2' }}
            content={({ active, payload }) => {
              const point: Plotted | undefined = payload[0]?.payload;
              return active && point ? <Reading point={point} stepSeconds={stepSeconds} lines={lines} say={say} beside={beside} /> : null;
            }}
          />
          {lines.map(({ key, hue, dash, label: name }) => (
            <Line
              key={key}
              dataKey={key}
              name={name}
              type="linear"
              stroke={`var(--oc-${hue})`}
              strokeWidth={1.75}
              strokeDasharray={dash}
              dot={({ index, cx, cy }: { index: number; cx?: number; cy?: number }) =>
                isLone(data, key, index) && cx !== undefined && cy !== undefined ? (
                  <circle key={index} cx={cx} cy={cy} r={2} fill={`var(--oc-${hue})`} />
                ) : (
                  <g key={index} />
                )
              }
              activeDot={{ r: 3 }}
              connectNulls={false}
              isAnimationActive={false}
            />
          ))}
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
}

/** A known value between two gaps would draw no line at all. */
function isLone(data: Plotted[], key: ChartLine['key'], index: number): boolean {
  const known = (at: number) => (data[at]?.[key] ?? null) !== null;
  return known(index) && !known(index - 1) && !known(index + 1);
}

interface ReadingProps extends Pick<TimeChartProps, 'stepSeconds' | 'lines' | 'beside'> {
  point: Plotted;
  say: (value: number) => string;
}

function Reading({ point, stepSeconds, lines, say, beside }: ReadingProps) {
  const format = useFormat();
  return (
    <div className={classes.reading}>
      <p>
        {format.clock(point.time)} – {format.clock(point.time + stepSeconds * 1_000)}
      </p>
      <dl>
        {lines.map(({ key, label, hue, dash }) => {
          const value = point[key];
          return (
            <div key={key}>
              <dt>
                <svg width={16} height={8} aria-hidden>
                  <path d="M1 4H15" stroke={`var(--oc-${hue})`} strokeWidth={2} strokeDasharray={dash} />
                </svg>
                {label}
              </dt>
              <dd>{value === null ? '?' : say(value)}</dd>
            </div>
          );
        })}
        {beside && point.count !== null && (
          <div>
            <dt>{beside.label}</dt>
            <dd>{beside.format(point.count)}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}
