/**
 * Time zones as minutes east of Greenwich. A MySQL server knows named zones only when somebody has loaded their tables,
 * and answers NULL for every time otherwise: what it is asked for instead is a sum.
 */
const SINCE_YEAR = 2005;
const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;

/** What a zone's clocks show. */
export interface ZoneOffsets {
  /** Minutes east of Greenwich, one more than there are changes: before the first of them, and after each. */
  minutes: number[];
  /** When they were changed, in minutes since 1970. */
  changes: number[];
}

const known = new Map<string, ZoneOffsets>();

/** A zone's offsets since 2005 and until the end of the next year; earlier and later times have the nearest. Throws RangeError for a zone nobody knows. */
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

/** The minute, in milliseconds, from which on the offset is no longer the one before. */
function changeBetween(from: number, to: number, before: number, offsetAt: (at: number) => number): number {
  let [low, high] = [from / MINUTE_MS, to / MINUTE_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}
