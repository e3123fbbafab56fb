/** Instants of the observed database as microseconds since the epoch: whole numbers, and no digit is lost on the way. */

export const SECOND = 1_000_000;
export const MINUTE = 60 * SECOND;

/** Of ISO 8601 UTC with microseconds. */
export function microsOf(iso: string): number {
  const fraction = /\.(\d+)Z$/.exec(iso)?.[1] ?? '';
  return Date.parse(`${iso.slice(0, 19)}Z`) * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** ISO 8601 UTC with microseconds. */
export function isoOf(micros: number): string {
  const seconds = Math.floor(micros / SECOND);
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(micros - seconds * SECOND).padStart(6, '0')}Z`;
}

/** The minute since the epoch that an instant lies in. */
export const minuteOf = (micros: number): number => Math.floor(micros / MINUTE);

/** The minutes that have a part in [from, to). */
export function minutesIn(from: number, to: number): number[] {
  if (from >= to) return [];
  const first = minuteOf(from);
  return Array.from({ length: Math.ceil(to / MINUTE) - first }, (_, index) => first + index);
}
