/** Wall-clock times of a time zone, as in `<input type="datetime-local">`, and the instants they mean. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached: creating a format costs more than using it a hundred times. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  const clock = { hourCycle: 'h23', hour: two, minute: two, second: two } as const;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric', month: two, day: two, ...clock });
  formats.set(timeZone, format);
  return format;
}

/** "2026-11-21T14:02:11" in the zone, in the same form for every locale, so that a pasted time means the same to everyone. */
export function instantToWall(at: string | number, timeZone: string): string {
  const parts = formatOf(timeZone).formatToParts(new Date(at));
  const part: Record<string, string> = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${part.year ?? ''}-${part.month ?? ''}-${part.day ?? ''}T${part.hour ?? ''}:${part.minute ?? ''}:${part.second ?? ''}`;
}

/** ISO 8601 UTC; null if invalid. A skipped time uses the offset before the jump, a repeated one means its first pass. */
export function wallToInstant(wall: string, timeZone: string): string | null {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return null;
  const before = asUtc - offsetMs(asUtc - DAY_MS, timeZone);
  const after = asUtc - offsetMs(asUtc + DAY_MS, timeZone);
  const means = [before, after].find((at) => at + offsetMs(at, timeZone) === asUtc) ?? before;
  return new Date(means).toISOString().replace('.000Z', 'Z');
}

const DAY_MS = 86_400_000;

const offsetMs = (at: number, timeZone: string): number => Date.parse(`${instantToWall(at, timeZone)}Z`) - Math.floor(at / 1_000) * 1_000;
