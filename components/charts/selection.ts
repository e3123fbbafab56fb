import { SPAN_SECONDS_MIN } from '@/lib/shared/figures/windows';
import type { TimeSpan } from './chart-model';

/** Steps that were dragged over: the starts of the one it began at and the one it is at, in milliseconds since the epoch. */
export interface Dragged {
  anchor: number;
  at: number;
}

/**
 * The span that a selection of steps stands for, in milliseconds since the epoch: whole steps, and widened to what a chart
 * needs at least, within what is shown.
 */
export function selectedSpan({ anchor, at }: Dragged, { from, to, stepMs }: Omit<TimeSpan, 'points'>): { from: number; to: number } {
  const first = Math.max(from, Math.min(anchor, at));
  const last = Math.min(to, Math.max(anchor, at) + stepMs);
  const missing = Math.max(0, SPAN_SECONDS_MIN * 1_000 - (last - first));
  const start = Math.max(from, Math.min(first - Math.floor(missing / 2 / 60_000) * 60_000, to - SPAN_SECONDS_MIN * 1_000));
  return { from: start, to: Math.max(last, start + SPAN_SECONDS_MIN * 1_000) };
}
