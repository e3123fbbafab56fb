import type { SeriesPoint } from '@/lib/shared/model';

/** Pixels; kept free before the chart library arrives, so that nothing moves when it does. */
export const CHART_HEIGHT = 192;

/** A point of a series; `count` is how many events its latencies are of. */
export interface ChartPoint extends SeriesPoint {
  count: number | null;
}

type ValueKey = { [K in keyof ChartPoint]: ChartPoint[K] extends number | null ? K : never }[keyof ChartPoint];

export interface ChartLine {
  key: ValueKey;
  label: string;
  hue: 'accent' | 'blue' | 'amber' | 'violet' | 'green' | 'red';
  /** Tells lines apart without their hue. */
  dash?: string;
}

export interface TimeChartProps {
  /** Names the chart for those who hear it. */
  label: string;
  points: ChartPoint[];
  stepSeconds: number;
  lines: ChartLine[];
  /** What the values count, on the axis. */
  unit: string;
  format: (value: number) => string;
  /** A further number of each point, said beside the lines. */
  beside?: { label: string; format: (value: number) => string };
}

/** About six round times within a span, for the ticks of an axis: whole quarters of an hour, hours or days of the zone. */
export function timeTicks(from: number, to: number, offsetMs: number): number[] {
  const span = to - from;
  const step = TICK_STEPS_MS.find((size) => span / size <= 7) ?? 86_400_000;
  const first = Math.ceil((from + offsetMs) / step) * step - offsetMs;
  const ticks: number[] = [];
  for (let at = first; at <= to; at += step) ticks.push(at);
  return ticks;
}

const TICK_STEPS_MS = [180_000, 600_000, 900_000, 3_600_000, 14_400_000, 86_400_000];

/** How far a zone is ahead of UTC at a time, in milliseconds. */
export function zoneOffsetMs(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(new Date(at));
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(at / 1_000) * 1_000;
}
