/** Wall-clock times of a zone, as `<input type="datetime-local">` holds them, and the instants they mean. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a format takes longer than using it a hundred times. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(timeZone, format);
  return format;
}

/** Digits are read in one order and one clock everywhere, so that a pasted time means the same to everybody. */
export function timeParts(at: string | number, timeZone: string): Record<string, string> {
  return Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(new Date(at))
      .map(({ type, value }) => [type, value]),
  );
}

/** "2026-11-21T14:02:11" in the zone. */
export function instantToWall(at: string | number, timeZone: string): string {
  const part = timeParts(at, timeZone);
  return `${part.year ?? ''}-${part.month ?? ''}-${part.day ?? ''}T${part.hour ?? ''}:${part.minute ?? ''}:${part.second ?? ''}`;
}

/** ISO 8601 UTC; null when it is no time. One the clocks skip is read with the offset before the jump, one they pass twice means its first pass. */
export function wallToInstant(wall: string, timeZone: string): string | null {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return null;
  const before = asUtc - offsetMs(asUtc - DAY_MS, timeZone);
  const after = asUtc - offsetMs(asUtc + DAY_MS, timeZone);
  const means = [before, after].find((at) => at + offsetMs(at, timeZone) === asUtc) ?? before;
  return new Date(means).toISOString().replace('.000Z', 'Z');
}

const DAY_MS = 86_400_000;

function offsetMs(at: number, timeZone: string): number {
  return Date.parse(`${instantToWall(at, timeZone)}Z`) - Math.floor(at / 1_000) * 1_000;
}
