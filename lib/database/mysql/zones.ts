/**
 * Time zones as minutes east of Greenwich. A MySQL server knows named zones only when somebody has loaded their tables,
 * and answers NULL for every time otherwise; most zones in which outboxes are kept have not moved for twenty years.
 */
const SINCE_YEAR = 2005;

const known = new Map<string, number | null>();

/** The zone's one offset in minutes; null where it had more than one since 2005. Throws RangeError for a zone nobody knows. */
export function fixedOffsetMinutes(timeZone: string): number | null {
  const found = known.get(timeZone);
  if (found !== undefined) return found;
  const offset = lookUp(timeZone);
  known.set(timeZone, offset);
  return offset;
}

function lookUp(timeZone: string): number | null {
  const written = /^([+-])(\d{2}):(\d{2})$/.exec(timeZone);
  if (written !== null) return (written[1] === '-' ? -1 : 1) * (Number(written[2]) * 60 + Number(written[3]));
  if (/^(UTC|GMT|Z|Etc\/UTC)$/i.test(timeZone)) return 0;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const offsets = new Set<number>();
  const lastYear = new Date().getUTCFullYear() + 1;
  for (let month = 0; month < (lastYear - SINCE_YEAR + 1) * 12; month += 1) {
    const name = format.formatToParts(Date.UTC(SINCE_YEAR, month, 1)).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    const [, sign = '+', hours = '0', minutes = '0'] = /GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name) ?? [];
    offsets.add((sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)));
  }
  const [only] = offsets;
  return offsets.size === 1 && only !== undefined ? only : null;
}
