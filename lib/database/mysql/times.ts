import { type RawBuilder, sql } from 'kysely';
import type { ColumnDescription } from '../description';

/** Time zones are offsets in minutes: MySQL knows named ones only if their tables are loaded. */
const SINCE_YEAR = 2005;
const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;

export interface ZoneOffsets {
  /** Minutes east of UTC: before the first change, and after each (one more than `changes`). */
  minutes: number[];
  /** Times of the changes, in minutes since the epoch. */
  changes: number[];
}

const known = new Map<string, ZoneOffsets>();

/** A zone's offsets from 2005 to the end of next year; other times use the nearest. Throws RangeError for an unknown zone. */
export function zoneOffsets(timeZone: string): ZoneOffsets {
  const found = known.get(timeZone) ?? lookUp(timeZone);
  known.set(timeZone, found);
  return found;
}

function lookUp(timeZone: string): ZoneOffsets {
  const written = /^([+-])(\d{2}):(\d{2})$/.exec(timeZone);
  if (written !== null) return { minutes: [(written[1] === '-' ? -1 : 1) * (Number(written[2]) * 60 + Number(written[3]))], changes: [] };
  if (/^(UTC|GMT|Z|Etc\/UTC)$/i.test(timeZone)) return { minutes: [0], changes: [] };
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const offsetAt = (at: number): number => {
    const name = format.formatToParts(at).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    const [, sign = '+', hours = '0', minutes = '0'] = /GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  };
  const end = Date.UTC(new Date().getUTCFullYear() + 2, 0, 1);
  let at = Date.UTC(SINCE_YEAR, 0, 1);
  let offset = offsetAt(at);
  const offsets: ZoneOffsets = { minutes: [offset], changes: [] };
  // No zone changes its clocks twice within a week.
  for (let next = at + WEEK_MS; at < end; at = next, next += WEEK_MS) {
    const after = offsetAt(next);
    if (after === offset) continue;
    offsets.minutes.push(after);
    offsets.changes.push(changeBetween(at, next, offset, offsetAt) / MINUTE_MS);
    offset = after;
  }
  return offsets;
}

/** The first minute with another offset than `before`, in milliseconds since the epoch. */
function changeBetween(from: number, to: number, before: number, offsetAt: (at: number) => number): number {
  let [low, high] = [from / MINUTE_MS, to / MINUTE_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

type Sql<T = unknown> = RawBuilder<T>;

/** The session's time zone is UTC: a TIMESTAMP reads as UTC, a DATETIME is in the zone of its writer. */
export function toUtc(column: Sql, description: ColumnDescription, timeZone: string): Sql {
  const { time, kind } = description;
  if (time === 'epoch_ms' || time === 'epoch_s') return fromEpoch(column, description, time === 'epoch_ms' ? 1_000 : 1_000_000);
  if (time === 'iso') return fromIso(column, timeZone);
  return kind === 'wall_clock' && time !== 'utc' ? shifted(column, timeZone, 'to utc') : column;
}

export const EPOCH = sql`timestamp'1970-01-01 00:00:00.000000'`;
/** Years 1 to 9999 in microseconds since the epoch; anything outside is not the time of an event, nor is 0, which stands for none. */
const [FIRST_MICROSECOND, LAST_MICROSECOND] = [-62_135_596_800_000_000, 253_402_300_799_000_000];

/** By arithmetic, as FROM_UNIXTIME ends in 2038. */
function fromEpoch(column: Sql, { kind }: ColumnDescription, microseconds: number): Sql {
  const number =
    kind === 'text' ? sql`(case when ${column} regexp '^-?[0-9]{1,18}([.][0-9]+)?$' then cast(${column} as decimal(30,6)) end)` : column;
  // Checked before multiplying: an overflow is an error that fails the whole statement.
  const [first, last] = [FIRST_MICROSECOND / microseconds, LAST_MICROSECOND / microseconds];
  return sql`(case when ${number} between ${sql.lit(first)} and ${sql.lit(last)} and ${number} <> 0 then ${EPOCH} + interval (${number} * ${sql.lit(microseconds)}) microsecond end)`;
}

function toEpoch(value: Sql, { kind, time }: ColumnDescription): Sql {
  const perUnit = sql.lit(time === 'epoch_ms' ? 1_000 : 1_000_000);
  const epoch = sql`timestampdiff(microsecond, ${EPOCH}, ${value}) / ${perUnit}`;
  if (kind === 'text') return sql`cast(floor(${epoch}) as char)`;
  return kind === 'integer' ? sql`floor(${epoch})` : sql`(${epoch})`;
}

/** ISO 8601 text with seconds; a zone may follow. */
function fromIso(column: Sql, timeZone: string): Sql {
  const clock = sql`regexp_substr(${column}, '[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?')`;
  const local = sql`cast(concat(left(${column}, 10), ' ', ${clock}) as datetime(6))`;
  const zone = sql`regexp_substr(${column}, '(Z|[+-][0-9]{2}:?[0-9]{2})$')`;
  const minutes = sql`(left(${zone}, 3) * 60 + concat(left(${zone}, 1), right(${zone}, 2)) * 1)`;
  return sql`(case when ${column} not regexp '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?$' then null
    when ${zone} = 'Z' then ${local} when ${zone} <> '' then ${local} - interval ${minutes} minute else ${shifted(local, timeZone, 'to utc')} end)`;
}

/** A UTC time in the column's encoding and its writer's zone. */
export function fromUtc(value: Sql, description: ColumnDescription, timeZone: string): Sql {
  const { time, kind } = description;
  if (time === 'epoch_ms' || time === 'epoch_s') return toEpoch(value, description);
  if (time === 'iso') return sql`concat(left(date_format(${value}, '%Y-%m-%dT%H:%i:%s.%f'), 23), 'Z')`;
  return kind === 'wall_clock' && time !== 'utc' ? shifted(value, timeZone, 'from utc') : value;
}

/** CONVERT_TZ needs tables and ends in 2038. A repeated hour is the later one; a skipped one keeps the old offset, as on PostgreSQL. */
function shifted(value: Sql, timeZone: string, way: 'to utc' | 'from utc'): Sql {
  const { minutes, changes } = zoneOffsets(timeZone);
  const east = minutes.map((offset) => (way === 'to utc' ? -offset : offset));
  if (changes.length === 0) return east[0] === 0 ? value : sql`(${value} + interval ${sql.lit(east[0])} minute)`;
  const bounds = changes.map((change, index) => sql.lit(change + (way === 'to utc' ? (minutes[index + 1] ?? 0) : 0)));
  const place = sql`interval(timestampdiff(minute, ${EPOCH}, ${value}), ${sql.join(bounds)}) + 1`;
  return sql`(${value} + interval cast(elt(${place}, ${sql.join(east.map((offset) => sql.lit(offset)))}) as signed) minute)`;
}

/** Fractional digits of a second that the column keeps; a value with more digits could be rounded into the future. */
export const fractionDigits = (type: string): number => Number(/\((\d)\)/.exec(type)?.[1] ?? '0');

/** An ISO 8601 text as UTC without a zone, microseconds kept. Throws RangeError for an invalid time. */
export function utcText(iso: string): string {
  const match = /^(.*T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/.exec(iso);
  const whole = new Date(match === null ? iso : `${match[1] ?? ''}${match[3] ?? 'Z'}`).toISOString();
  const fraction = match === null ? whole.slice(20, 23) : (match[2] ?? '0');
  return `${whole.slice(0, 19).replace('T', ' ')}.${fraction.padEnd(6, '0').slice(0, 6)}`;
}

/** True for a real date from year 1 on, false for the zero dates that old tables hold. */
export const isRealDate = (column: Sql): Sql<boolean> => sql`(year(${column}) > 0 and month(${column}) > 0 and dayofmonth(${column}) > 0)`;
