import type { Known } from '@/lib/shared/measured';
import type { Series, Summary, TypeFigures } from '@/lib/shared/model';
import type { Axis, Base } from './base';
import type { Reading } from './reading';
import type { Figures } from './spelling';

/** One line of the series, one value per point, oldest first, and how it is known. */
export interface Plot {
  known: Known;
  values: (number | null)[];
}
export type PlotKey = 'waiting' | 'dead' | 'created' | 'published' | 'errors' | 'p50Ms' | 'p95Ms' | 'p99Ms';
export type SeriesLine = keyof Series['known'];

/**
 * One metric: what it aggregates over the base, and how that is read back into its part of the summary, of the figures
 * by type and of the series. Adding a metric is adding a file to `catalog/`.
 */
export interface Metric {
  /** The file's name. */
  id: string;
  unit: 'events' | 'milliseconds' | 'per_minute' | 'time' | 'ratio';
  /** One English sentence: what is counted, over which events. */
  help: string;
  figures?(base: Base): Figures;
  perType?(base: Base): Figures;
  /** Aggregates per step of the series, by the time that puts a row into its step. */
  lines?(base: Base): Partial<Record<Axis, Figures>>;
  summary?(reading: Reading): Partial<Summary>;
  /** `type` answers this metric's own figures of one event type. */
  byType?(reading: Reading, type: (name: string) => unknown): Partial<TypeFigures>;
  plots?(reading: Reading): Partial<Record<PlotKey, Plot>>;
}
