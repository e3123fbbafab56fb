import type { ColumnDescription } from './description';

/** Whether a column of this type prints a text so, `numeric(20,2)` for example: no zeros before it, all its places; false for floats. */
export function printsAsDecimal(text: string, type: string): boolean {
  const found = /^(?:numeric|decimal)(?:\((\d+)(?:,(\d+))?\))?(?: unsigned)?(?: zerofill)?$/i.exec(type);
  if (found === null) return false;
  const places = Number(found[2] ?? 0);
  const whole = (found[1] === undefined ? 1_000 : Number(found[1])) - places;
  const [, digits, fraction = ''] = /^-?(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text) ?? [];
  if (digits === undefined || fraction.length !== places || /^-[0.]+$/.test(text)) return false;
  return digits === '0' || digits.length <= whole;
}

const INTEGER_BITS: Record<string, bigint> = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, integer: 32n, bigint: 64n };

/** The least and the greatest whole number a type holds, by its name on either engine; null for other types. */
export function integerRange(type: string): [least: bigint, greatest: bigint] | null {
  const [, name = '', unsigned] = /^([a-z]+)(?:\(\d+\))?( unsigned)?(?: zerofill)?$/i.exec(type) ?? [];
  const bits = INTEGER_BITS[name.toLowerCase()];
  if (bits === undefined) return null;
  return unsigned === undefined ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, (1n << bits) - 1n];
}

const INTEGER = /^(0|-?[1-9][0-9]{0,19})$/;

/** Whether a text is printed by a column of this type that holds whole numbers; of a type without a range, of the largest one. */
export function printsAsInteger(text: string, type: string): boolean {
  const [least, greatest] = integerRange(type) ?? [-(1n << 63n), (1n << 63n) - 1n];
  return INTEGER.test(text) && BigInt(text) >= least && BigInt(text) <= greatest;
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export interface PrintedTime {
  /** As printed: the year before year 1 is 1 of those before. */
  year: number;
  beforeChrist: boolean;
  month: number;
  day: number;
  /** Hours east or west of UTC, without a sign; null where no zone is printed. */
  zoneHours: number | null;
}

const PRINTED = /^(\d{4,6})-(\d\d)-(\d\d)(?: ([01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,6})?(?:[+-](\d\d)(?::[0-5]\d){0,2})?)?( BC)?$/;

/** What a text says that is printed as a time is; null for one that is not. Days that a month has not are left to `daysOf`. */
export function printedTime(text: string): PrintedTime | null {
  const [whole, year = '', month = '', day = '', , zone, before] = PRINTED.exec(text) ?? [];
  if (whole === undefined) return null;
  return {
    year: Number(year),
    beforeChrist: before !== undefined,
    month: Number(month),
    day: Number(day),
    zoneHours: zone === undefined ? null : Number(zone),
  };
}

/** Days of a month, by the calendar of today also for the years before there was one; 0 for a month there is not. */
export function daysOf({ year, beforeChrist, month }: PrintedTime): number {
  if (month < 1 || month > 12) return 0;
  const counted = beforeChrist ? year - 1 : year;
  const isLeap = counted % 4 === 0 && (counted % 100 !== 0 || counted % 400 === 0);
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Below what any clock of a service tells. */
const MICROSECOND_MS = 0.001;
const DAY_MS = 86_400_000;

/** Milliseconds between neighbouring times of a column. `digits` are those of a second that the type keeps; null: all of them. */
export function resolutionOf({ type, kind, time }: ColumnDescription, digits: number | null): number {
  if (time === 'iso') return MICROSECOND_MS;
  if (time === 'epoch_ms' || time === 'epoch_s') return kind !== 'integer' ? MICROSECOND_MS : time === 'epoch_s' ? 1_000 : 1;
  if (/^date$/i.test(type)) return DAY_MS;
  return digits === null ? MICROSECOND_MS : 1_000 / 10 ** digits;
}
