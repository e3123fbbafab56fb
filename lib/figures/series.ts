import type { Known, Rate, UnavailableReason } from '@/lib/shared/figures/measured';
import type { MetricUnit } from '@/lib/shared/figures/metrics';
import { WINDOW_SECONDS } from '@/lib/shared/figures/windows';
import { countsRows } from '@/lib/shared/figures/collection';
import { liveSlices, MINUTE_MS, NO_GAP_MS, type MetricInput, type Span } from './span';
import type { Head } from '@/lib/history/history';
import type { Reading, SliceCount } from '@/lib/live/reading';
import { ALL_TYPES, addCell, emptyCell, isWatched, type Cell, type Slice } from '@/lib/rollup/cell';

/** One step of a series of a span. */
export interface Step {
  /** Steps since the epoch. */
  step: number;
  /** What happened in it; null if it was not watched and rows do not show it either. */
  cell: Cell | null;
  provisional: boolean;
  /** Created events that left at an unknown time: they count neither as arrivals nor as departures of a depth. */
  untold: number;
  /** Events that left by dying or being claimed, as far as rows still in the table show. */
  died: number;
  claimed: number;
}

/** A series before its metrics: oldest first; if the span ends now, the last step is still under way. */
export interface SeriesInput {
  input: MetricInput;
  series: string;
  steps: Step[];
}

/** Joins the slices before the head, the head, and what the reading found after it. */
export function seriesInput(input: MetricInput, series: string, head: Head | null, older: readonly Slice[]): SeriesInput {
  const { reading, span } = input;
  const empty = { cell: null, provisional: false, untold: 0, died: 0, claimed: 0 };
  const steps = new Map(stepsOf(span).map((step): [number, Step] => [step, { step, ...empty }]));
  const at = (minute: number): Step | undefined => steps.get(Math.floor((minute * 60) / span.stepSeconds));
  const folded = [...older, ...(head?.slices ?? [])];
  for (const { atMinute, series: of, cell, provisional } of folded) {
    const step = at(atMinute);
    if (step === undefined || (of !== series && of !== ALL_TYPES)) continue;
    // Watched time is known for every type, even one that had no event in it.
    if (of === ALL_TYPES && isWatched(cell)) step.cell ??= emptyCell();
    step.provisional ||= provisional;
  }
  if (head !== null) addUnfolded(reading, head, at);
  for (const { atMinute, series: of, cell } of folded) {
    const sum = of === series ? at(atMinute)?.cell : null;
    if (sum != null) addCell(sum, cell);
  }
  if (head !== null) {
    markUnread(steps.values(), span, head);
    for (const { atMinute, series: of, cell } of liveSlices(reading)) {
      const step = of === series ? at(atMinute) : undefined;
      // Rows that still wait do not make unwatched time known.
      if (step !== undefined && (step.cell !== null || cell.published > 0)) addCell((step.cell ??= emptyCell()), cell);
    }
  }
  const add = (axis: ReadonlyMap<number, SliceCount>, into: (step: Step, count: SliceCount) => void): void => {
    for (const [minute, count] of axis) {
      const step = at(minute);
      if (step !== undefined) into(step, count);
    }
  };
  add(reading.slices.created, (step, { untold }) => (step.untold += untold));
  add(reading.slices.died, (step, { n }) => (step.died += n));
  add(reading.slices.claimed, (step, { n }) => (step.claimed += n));
  return { input, series, steps: [...steps.values()] };
}

/** Of a step that is being read, rows may be missing. */
function markUnread(steps: Iterable<Step>, { stepSeconds }: Span, { progress }: Head): void {
  const unread = progress.unread.map(({ from, to }) => [from, to].map((end) => Date.parse(end) / stepSeconds / 1_000));
  for (const step of steps)
    if (step.cell !== null && unread.some(([from = 0, to = 0]) => from < step.step + 1 && to > step.step)) step.provisional = true;
}

/** The reading has everything that was published since the last fold: steps in which that is nothing are zero, not a gap. */
function addUnfolded({ asOf, reach }: Reading, { progress }: Head, at: (minute: number) => Step | undefined): void {
  const [fromMs, toMs] = [Date.parse(progress.foldedTo), Date.parse(asOf)];
  if (!countsRows(progress.method) || reach.published !== 'complete' || toMs - fromMs > NO_GAP_MS) return;
  for (let minute = Math.floor(fromMs / MINUTE_MS); minute * MINUTE_MS <= toMs; minute += 1) {
    const step = at(minute);
    if (step !== undefined) step.cell ??= emptyCell();
  }
}

/** The steps of a span since the epoch, oldest first. The last one of a window is still under way. */
export function stepsOf({ window, fromMs, toMs, stepSeconds }: Span): number[] {
  const stepMs = stepSeconds * 1_000;
  const last = window === null ? toMs / stepMs - 1 : Math.floor(toMs / stepMs);
  const first = window === null ? fromMs / stepMs : last - WINDOW_SECONDS[window] / stepSeconds + 1;
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Minutes since the epoch at which the steps of a span begin and end, and how wide they are. */
export function stepBounds(span: Span): { fromMinute: number; toMinute: number; widest: number } {
  const steps = stepsOf(span);
  const widest = span.stepSeconds / 60;
  return { fromMinute: (steps[0] ?? 0) * widest, toMinute: ((steps.at(-1) ?? 0) + 1) * widest, widest };
}

/** One line of a series, one value per step, oldest first, and how it is known. */
export interface Plot {
  known: Known;
  values: (number | null)[];
  /** Why there is no value, where `known` is `unavailable`. */
  why?: UnavailableReason;
}
/** A figure of a window, shown wherever the others are. To add one, add a file to `metrics/` and its texts under `outbox.tiles.<id>`. */
export interface Metric {
  id: string;
  unit: MetricUnit;
  /** null with the reason if the table cannot give it. */
  of(input: MetricInput): Rate;
  /** A line of a series, and the header of its column in a CSV. */
  series?: { key: string; csv: string; plot(series: SeriesInput): Plot };
  gauge?: { family: `outbox_console_${string}`; help: string };
}

export function noPlot({ steps }: SeriesInput, why: UnavailableReason): Plot {
  return { known: 'unavailable', values: steps.map(() => null), why };
}
