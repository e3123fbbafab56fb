import type { ChartMark } from '@/lib/shared/figures/marks';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import { SPAN_SECONDS_MIN } from '@/lib/shared/figures/windows';

/** In pixels; reserved before the charts load, so that nothing moves then. */
export const CHART_HEIGHT = 224;

/** Pixels around the plot: the same in every chart, so that all share one time axis. */
export const INSET = { left: 56, right: 16, top: 24, bottom: 24 } as const;

export type ValueKey = { [K in keyof RatedPoint]: RatedPoint[K] extends number | null ? K : never }[keyof RatedPoint];

export type Hue = 'accent' | 'blue' | 'amber' | 'violet' | 'green' | 'red' | 'grey';

export interface ChartLine {
  key: ValueKey;
  label: string;
  hue: Hue;
  /** Tells lines apart without colour. */
  dash?: string;
  filled?: boolean;
  barred?: boolean;
  format: (value: number) => string;
}

interface PaneFrame {
  unit: string;
  format: (value: number) => string;
}

/** Lines over time: counts, ages in milliseconds, or durations in milliseconds on a logarithmic axis. */
export interface LinePane extends PaneFrame {
  kind: 'lines';
  scale: 'linear' | 'ages' | 'durations';
  lines: ChartLine[];
  /** Shades the area between two of the lines. */
  band?: { low: ValueKey; high: ValueKey; hue: Hue };
}

export interface BarPane extends PaneFrame {
  kind: 'bars';
  lines: [ChartLine];
}

/** Time by duration, darker with more events. */
export interface HeatPane extends PaneFrame {
  kind: 'heat';
  /** Upper bounds of the rows in milliseconds; one more row is for longer durations. */
  boundsMs: number[];
  /** The name of a row: "30 ms – 100 ms". */
  rowName: (row: number) => string;
  lines: [];
}

export type Pane = LinePane | BarPane | HeatPane;

/** What all charts of a screen share. */
export type TimeSpan = ReturnType<typeof timeSpan>;

export interface ChartProps {
  title: string;
  span: TimeSpan;
  panes: Pane[];
  marks: readonly ChartMark[];
  /** Zooms to a span, in milliseconds since the epoch. */
  onZoom: (from: number, to: number) => void;
}

export interface PaneProps<P extends Pane> {
  pane: P;
  span: TimeSpan;
  axis: { ticks: number[]; tickText: (at: number) => string };
  width: number;
  height: number;
  /** The lowest pane of a chart has the times below it. */
  last: boolean;
}

/** `from` and `to` are the start of the first step and the end of the last, in milliseconds since the epoch. */
export function timeSpan(points: RatedPoint[], stepSeconds: number) {
  const stepMs = stepSeconds * 1_000;
  const from = Date.parse(points[0]?.at ?? '1970-01-01T00:00:00Z');
  return { points, stepMs, from, to: from + points.length * stepMs };
}

/** The heights of a chart's panes, which always add up to the same; the first is the main one. */
export function paneHeights(panes: readonly Pane[]): number[] {
  const small = 72;
  return panes.map((_, index) => (index === 0 ? CHART_HEIGHT - INSET.bottom - small * (panes.length - 1) : small));
}

/** Runs of neighbouring points that `holds` accepts, as indices: the first, and the one after the last. */
export function runsOf<T>(points: readonly T[], holds: (point: T) => boolean): [number, number][] {
  const runs: [number, number][] = [];
  points.forEach((point, index) => {
    if (!holds(point)) return;
    const last = runs.at(-1);
    if (last?.[1] === index) last[1] = index + 1;
    else runs.push([index, index + 1]);
  });
  return runs;
}

/** The sizes that a step of an axis of counts may have, times a power of ten. */
const COUNT_STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10] as const;

/** An axis from 0 to the greatest value or a little more: at most `steps` steps, in whole numbers. */
export function countAxis(values: readonly number[], steps: number): { domain: [number, number]; ticks: number[] } {
  const greatest = Math.max(1, ...values);
  const least = Math.max(1, greatest / steps);
  const unit = 10 ** Math.floor(Math.log10(least));
  const step = COUNT_STEPS.map((size) => size * unit).find((size) => size >= least && Number.isInteger(size)) ?? least;
  const count = Math.ceil(greatest / step);
  return { domain: [0, count * step], ticks: Array.from({ length: count + 1 }, (_, index) => index * step) };
}

/** Pixels that the text of a tick needs. */
const TICK_PX = 16;

/** The first and the last tick, and those between that have room for their text. */
export function namedTicks(ticks: readonly number[], placeOf: (tick: number) => number): number[] {
  const end = ticks.at(-1) ?? 0;
  const hasRoom = (tick: number, other: number) => Math.abs(placeOf(tick) - placeOf(other)) >= TICK_PX;
  const named: number[] = [];
  for (const tick of ticks) {
    const before = named.at(-1);
    if (before === undefined || tick === end || (hasRoom(tick, before) && hasRoom(tick, end))) named.push(tick);
  }
  return named;
}

/** Familiar durations for an axis, in milliseconds. */
const DURATIONS_MS = [
  1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000, 2_592_000_000, 7_776_000_000,
] as const;

/** A logarithmic axis: from the familiar duration below the least value to the one above the greatest, with those between. */
export function durationAxis(values: readonly number[]): { domain: [number, number]; ticks: number[] } {
  const [least, greatest] = values.length === 0 ? [10, 10_000] : [Math.min(...values), Math.max(...values)];
  const low = DURATIONS_MS.findLastIndex((at) => at <= Math.max(DURATIONS_MS[0], least));
  const above = DURATIONS_MS.findIndex((at) => at >= greatest);
  const high = Math.max(low + 1, above === -1 ? DURATIONS_MS.length - 1 : above);
  const ticks = DURATIONS_MS.slice(low, high + 1);
  return { domain: [ticks[0] ?? 1, ticks.at(-1) ?? 10], ticks };
}

/** Ages whose half is familiar too, in milliseconds. */
const AGES_MS = [
  2_000, 10_000, 20_000, 60_000, 120_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
  172_800_000, 345_600_000, 864_000_000, 1_728_000_000, 5_184_000_000, 15_552_000_000,
] as const;

/** An axis from 0 to the familiar age above the greatest value, with a tick at half of it. */
export function ageAxis(values: readonly number[]): { domain: [number, number]; ticks: number[] } {
  const greatest = Math.max(0, ...values);
  const top = AGES_MS.find((age) => age >= greatest) ?? greatest;
  return { domain: [0, top], ticks: [0, top / 2, top] };
}

/** About six round times of the zone within a span, as ticks of an axis: whole minutes, hours or days. */
export function timeTicks(from: number, to: number, offsetMs: number): number[] {
  const step = TICK_STEPS_MS.find((size) => (to - from) / size <= 7) ?? 2_592_000_000;
  const first = Math.ceil((from + offsetMs) / step) * step - offsetMs;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step);
}

const TICK_STEPS_MS = [
  180_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000, 432_000_000, 1_296_000_000,
];

/** A dragged selection: the starts of its first and its current step, in milliseconds since the epoch. */
export type DragSelection = Record<'anchor' | 'at', number>;

/** The span of a selection, in milliseconds since the epoch: whole steps, at least SPAN_SECONDS_MIN, within the chart. */
export function selectedSpan({ anchor, at }: DragSelection, { from, to, stepMs }: Omit<TimeSpan, 'points'>): { from: number; to: number } {
  const first = Math.max(from, Math.min(anchor, at));
  const last = Math.min(to, Math.max(anchor, at) + stepMs);
  const missing = Math.max(0, SPAN_SECONDS_MIN * 1_000 - (last - first));
  const start = Math.max(from, Math.min(first - Math.floor(missing / 2 / 60_000) * 60_000, to - SPAN_SECONDS_MIN * 1_000));
  return { from: start, to: Math.max(last, start + SPAN_SECONDS_MIN * 1_000) };
}

/** The widest that the reading beside the cursor is, with its space. */
const READING_PX = 252;

/** Whether the reading goes left of the cursor: where the lines are lower, so that it covers no peak, if there is room on both sides. */
export function isReadLeft({ points }: Pick<TimeSpan, 'points'>, lines: readonly ChartLine[], index: number, width: number): boolean {
  const share = (index + 0.5) / points.length;
  if (share * width < READING_PX || (1 - share) * width < READING_PX) return share > 0.5;
  const steps = Math.ceil((READING_PX / width) * points.length);
  const peak = (first: number, end: number) =>
    Math.max(...points.slice(first, end).flatMap((point) => lines.map(({ key }) => point[key] ?? 0)));
  return peak(index - steps, index) < peak(index + 1, index + 1 + steps);
}

/** To a tenth of a pixel. */
export const tenth = (value: number): number => Math.round(value * 10) / 10;

/** In pixels. */
export type Place = Record<'x' | 'y', number>;

export const linePath = (run: readonly Place[]): string => run.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');

/** From a line down to the axis. */
export const groundPath = (run: readonly Place[], bottom: number): string =>
  `${linePath(run)}L${run.at(-1)?.x ?? 0} ${bottom}L${run[0]?.x ?? 0} ${bottom}Z`;
