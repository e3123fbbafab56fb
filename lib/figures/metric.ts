import type { Known, UnavailableReason } from '@/lib/shared/figures/measured';
import type { SeriesPoint, Summary, TypeFigures } from '@/lib/shared/model';
import type { Base } from '@/lib/live/base';
import type { Line } from './series';
import type { Observed } from './span';
import type { Cell } from '@/lib/rollup/cell';
import type { Figures } from '@/lib/outbox/scan/sql-terms';

/** One line of the series, one value per step, oldest first, and how it is known. */
export interface Plot {
  known: Known;
  values: (number | null)[];
  /** Why there is no value, where `known` is `unavailable`. */
  why?: UnavailableReason;
}
/** A line of which nothing is known. */
export const noPlot = ({ steps }: Line, why: UnavailableReason): Plot => ({ known: 'unavailable', values: steps.map(() => null), why });
export type PlotKey = { [K in keyof SeriesPoint]: SeriesPoint[K] extends number | null ? K : never }[keyof SeriesPoint];

/** What is known of one event type: this metric's own figures of now, and what happened over the span. */
export interface OfType {
  now(name: string): unknown;
  happened: Cell | null;
}

/**
 * One metric: what it aggregates over the rows of now, and how that and what happened over a span become its part of the
 * summary, of the figures by type and of the series. Adding a metric is adding a file to `catalog/`.
 */
export interface Metric {
  /** The file's name. */
  id: string;
  unit: 'events' | 'milliseconds' | 'per_minute' | 'time' | 'ratio' | 'bytes';
  /** One English sentence: what is counted, over which events. */
  help: string;
  /** Undefined where this outbox has none. */
  figures?(base: Base): Figures | undefined;
  perType?(base: Base): Figures;
  summary?(observed: Observed): Partial<Summary>;
  byType?(observed: Observed, type: OfType): Partial<TypeFigures>;
  plots?(line: Line): Partial<Record<PlotKey, Plot>>;
}
