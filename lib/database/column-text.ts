import type { ColumnDescription } from './description';

/** PostgreSQL's type without a precision: each value has as many decimals as it was written with, so that equal ones print differently. */
export const keepsDecimals = (type: string): boolean => /^numeric$/i.test(type);

/** Whether a column of this type, e.g. `numeric(20,2)`, prints exactly this text: no leading zeros, all decimals. False for floats. */
export function printsAsDecimal(text: string, type: string): boolean {
  const found = /^(?:numeric|decimal)(?:\((\d+)(?:,(\d+))?\))?(?: unsigned)?(?: zerofill)?$/i.exec(type);
  if (found === null) return false;
  const places = Number(found[2] ?? 0);
  const whole = (found[1] === undefined ? 1_000 : Number(found[1])) - places;
  const [, digits, fraction = ''] = /^-?(0|[1-9][0-9]*)(?:\.([0-9]+))?$/.exec(text) ?? [];
  if (digits === undefined || /^-[0.]+$/.test(text)) return false;
  if (fraction.length !== places && !(keepsDecimals(type) && fraction.length <= whole)) return false;
  return digits === '0' || digits.length <= whole;
}

const INTEGER_BITS: Record<string, bigint> = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, integer: 32n, bigint: 64n };

/** Smallest and largest value of an integer type of either engine; null for other types. */
export function integerRange(type: string): [least: bigint, greatest: bigint] | null {
  const [, name = '', unsigned] = /^([a-z]+)(?:\(\d+\))?( unsigned)?(?: zerofill)?$/i.exec(type) ?? [];
  const bits = INTEGER_BITS[name.toLowerCase()];
  if (bits === undefined) return null;
  return unsigned === undefined ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, (1n << bits) - 1n];
}

const INTEGER = /^(0|-?[1-9][0-9]{0,19})$/;

/** Whether an integer column of this type prints exactly this text; a type without a known range counts as bigint. */
export function printsAsInteger(text: string, type: string): boolean {
  const [least, greatest] = integerRange(type) ?? [-(1n << 63n), (1n << 63n) - 1n];
  return INTEGER.test(text) && BigInt(text) >= least && BigInt(text) <= greatest;
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether values are bytes of which nothing is said: they are read as hexadecimal digits. */
export const printsAsDigits = (column?: ColumnDescription): boolean => column?.kind === 'binary' && column.holds === undefined;

/** The bytes, as hexadecimal digits, of digits after `\x`, of a text where the column holds texts, or of a UUID; null of anything else. */
export function bytesOf(text: string, { holds }: ColumnDescription): string | null {
  const [, digits] = /^\\x((?:[0-9a-f]{2})*)$/.exec(text) ?? [];
  if (digits !== undefined) return digits;
  if (holds === 'text') return text.isWellFormed() && !text.includes('\u0000') ? Buffer.from(text).toString('hex') : null;
  return UUID.test(text.toLowerCase()) ? text.toLowerCase().replaceAll('-', '') : null;
}

export interface PrintedTime {
  /** As printed: 1 BC is year 1 with `beforeChrist`. */
  year: number;
  beforeChrist: boolean;
  month: number;
  day: number;
  /** Whole hours from UTC, without a sign; null if no zone is printed. */
  zoneHours: number | null;
}

const PRINTED = /^(\d{4,6})-(\d\d)-(\d\d)(?: ([01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,6})?(?:[+-](\d\d)(?::[0-5]\d){0,2})?)?( BC)?$/;

/** Parses a time as the servers print it; null for any other text. Does not check the day of the month: see `daysOf`. */
export function printedTime(text: string): PrintedTime | null {
  const [whole, year = '', month = '', day = '', , zone, before] = PRINTED.exec(text) ?? [];
  if (whole === undefined) return null;
  const date = { year: Number(year), beforeChrist: before !== undefined, month: Number(month), day: Number(day) };
  return { ...date, zoneHours: zone === undefined ? null : Number(zone) };
}

/** Days of a month by the Gregorian calendar, also for years before it; 0 for an invalid month. */
export function daysOf({ year, beforeChrist, month }: PrintedTime): number {
  if (month < 1 || month > 12) return 0;
  const counted = beforeChrist ? year - 1 : year;
  const isLeap = counted % 4 === 0 && (counted % 100 !== 0 || counted % 400 === 0);
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Finer than the clock of any service. */
const MICROSECOND_MS = 0.001;
const DAY_MS = 86_400_000;

/** Smallest step between two times of a column, in milliseconds. `digits`: fractional digits of a second it keeps; null if all. */
export function resolutionOf({ type, kind, time }: ColumnDescription, digits: number | null): number {
  if (time === 'iso') return MICROSECOND_MS;
  if (time === 'epoch_ms' || time === 'epoch_s') return kind !== 'integer' ? MICROSECOND_MS : time === 'epoch_s' ? 1_000 : 1;
  if (/^date$/i.test(type)) return DAY_MS;
  return digits === null ? MICROSECOND_MS : 1_000 / 10 ** digits;
}
