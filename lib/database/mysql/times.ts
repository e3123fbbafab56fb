import { sql, type RawBuilder } from 'kysely';
import type { ColumnDescription } from '../engine';
import { fixedOffsetMinutes } from './zones';

type Sql<T = unknown> = RawBuilder<T>;

/** The session's zone is UTC: a TIMESTAMP reads as UTC, and a DATETIME as what its writer meant. */
export function toUtc(column: Sql, description: ColumnDescription, timeZone: string): Sql {
  return description.kind === 'wall_clock' ? shifted(column, timeZone, 'to utc') : column;
}

/** A UTC time as the column's writer would have written it. */
export function fromUtc(value: Sql, description: ColumnDescription, timeZone: string): Sql {
  return description.kind === 'wall_clock' ? shifted(value, timeZone, 'from utc') : value;
}

/** By arithmetic where the zone has one offset: CONVERT_TZ needs tables, and reckons from 1970 to 2038 only. */
function shifted(value: Sql, timeZone: string, way: 'to utc' | 'from utc'): Sql {
  const minutes = fixedOffsetMinutes(timeZone);
  if (minutes === 0) return value;
  if (minutes !== null) return sql`(${value} + interval ${sql.lit(way === 'to utc' ? -minutes : minutes)} minute)`;
  const [from, to] = way === 'to utc' ? [timeZone, '+00:00'] : ['+00:00', timeZone];
  return sql`convert_tz(${value}, ${sql.lit(from)}, ${sql.lit(to)})`;
}

/** Digits of a second that the column keeps; what a longer value is rounded to might lie in the future. */
export function fractionDigits(type: string): number {
  return Number(/\((\d)\)/.exec(type)?.[1] ?? '0');
}

/** An ISO 8601 text as UTC without a zone, microseconds kept. Throws RangeError for what is no time. */
export function utcText(iso: string): string {
  const match = /^(.*T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/.exec(iso);
  const whole = new Date(match === null ? iso : `${match[1] ?? ''}${match[3] ?? 'Z'}`).toISOString();
  const fraction = match === null ? whole.slice(20, 23) : (match[2] ?? '0');
  return `${whole.slice(0, 19).replace('T', ' ')}.${fraction.padEnd(6, '0').slice(0, 6)}`;
}

/** A date the calendar has: years from 1 on, and none of the zero dates that old tables hold. */
export function isRealDate(column: Sql): Sql<boolean> {
  return sql`(year(${column}) > 0 and month(${column}) > 0 and dayofmonth(${column}) > 0)`;
}
