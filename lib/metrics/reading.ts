import type { Axis } from './base';
import type { Window } from '@/lib/shared/windows';
import type { Part } from './sources';
import type { Traits } from './traits';

/** Whether all rows of a part were read, only some, or the table has no such rows at all. */
export type Reach = 'complete' | 'cut' | 'absent';

/** What is kept of a reading for the verdicts of the next quarter of an hour. */
export interface Past {
  /** ISO 8601 UTC by the database's clock. */
  asOf: string;
  /** By metric or rule, then by the figure's name. */
  figures: Record<string, Record<string, unknown>>;
  reach: Record<Part, Reach>;
}

/** What one statement answered about one outbox and window. */
export interface Reading extends Past {
  window: Window;
  stepSeconds: number;
  traits: Traits;
  /** Rows cut off are those that matter least: the newest waiting ones, the oldest published ones. */
  ordered: Record<Part, boolean>;
  /** Oldest time the table knows; null for an empty table. */
  firstKnownAt: string | null;
  /** Rows of the outbox's tables that it is made of. */
  rowsRead: number;
  types: { type: string; figures: Record<string, Record<string, unknown>> }[];
  /** By time, then step since the epoch: values by metric. */
  lines: Record<Axis, Map<number, Record<string, Record<string, unknown>>>>;
  /** How many points a series of this window has, and the step of its newest. */
  points: { count: number; lastStep: number };
}

/** A figure as a number; null where there is none. */
export function numberOf(past: Past, owner: string, name: string): number | null {
  return toNumber(past.figures[owner]?.[name]);
}

/** A figure as text: times are ISO 8601 UTC. */
export function textOf(past: Past, owner: string, name: string): string | null {
  const value = past.figures[owner]?.[name];
  return typeof value === 'string' ? value : null;
}

/** Percentiles and other arrays. */
export function numbersOf(past: Past, owner: string, name: string): (number | null)[] {
  const value = past.figures[owner]?.[name];
  return Array.isArray(value) ? value.map(toNumber) : [];
}

export function toNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** One value of a metric at every point, oldest first: null where no row fell into the step. */
export function lineOf(
  reading: Reading,
  axis: Axis,
  owner: string,
  value: (values: Record<string, unknown>) => number | null,
): (number | null)[] {
  return pointSteps(reading).map((step) => {
    const values = reading.lines[axis].get(step)?.[owner];
    return values === undefined ? null : value(values);
  });
}

/** A count at every point: zero where nothing happened, null before the oldest row the table still has. */
export function countLineOf(reading: Reading, axis: Axis, owner: string, name: string): (number | null)[] {
  const firstStep = reading.firstKnownAt === null ? Infinity : Math.floor(Date.parse(reading.firstKnownAt) / 1_000 / reading.stepSeconds);
  const counts = lineOf(reading, axis, owner, (values) => toNumber(values[name]));
  return pointSteps(reading).map((step, index) => counts[index] ?? (step < firstStep ? null : 0));
}

/** The steps of a series since the epoch, oldest first. */
export function pointSteps({ points }: Pick<Reading, 'points'>): number[] {
  return Array.from({ length: points.count }, (_, index) => points.lastStep - points.count + 1 + index);
}

/** Whether every row created in the window was read. */
export function createdReach(reading: Reading): Reach {
  if (!reading.traits.createdAt) return 'absent';
  return Object.values(reading.reach).includes('cut') ? 'cut' : 'complete';
}
