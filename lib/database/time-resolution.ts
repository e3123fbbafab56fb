import type { ColumnDescription } from './engine';

/** Below what any clock of a service tells. */
const MICROSECOND_MS = 0.001;
const DAY_MS = 86_400_000;

/**
 * How far apart two neighbouring times of a column are, in milliseconds. `digits` are those of a second that the type
 * itself keeps; null where it keeps all of them.
 */
export function resolutionOf({ type, kind, time }: ColumnDescription, digits: number | null): number {
  if (time === 'iso') return MICROSECOND_MS;
  if (time === 'epoch_ms' || time === 'epoch_s') return kind !== 'integer' ? MICROSECOND_MS : time === 'epoch_s' ? 1_000 : 1;
  if (/^date$/i.test(type)) return DAY_MS;
  return digits === null ? MICROSECOND_MS : 1_000 / 10 ** digits;
}
