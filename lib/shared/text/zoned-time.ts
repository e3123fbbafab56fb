/** Wall-clock times of a time zone, as in `<input type="datetime-local">`, and the instants they mean. */
import { getOrMake } from '../group-by';

/** Cached: creating a format costs more than using it a hundred times. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** "2026-11-21T14:02:11" in the zone, in the same form for every locale, so that a pasted time means the same to everyone. */
export function instantToWall(at: string | number, timeZone: string): string {
  // The Swedish locale writes times as ISO 8601 does.
  const swedish = () => new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return getOrMake(formats, timeZone, swedish).format(new Date(at)).replace(' ', 'T');
}

/** ISO 8601 UTC; null if invalid. A skipped time uses the offset before the jump, a repeated one means its first pass. */
export function wallToInstant(wall: string, timeZone: string): string | null {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return null;
  const before = asUtc - zoneOffsetMs(asUtc - DAY_MS, timeZone);
  const after = asUtc - zoneOffsetMs(asUtc + DAY_MS, timeZone);
  const means = [before, after].find((at) => at + zoneOffsetMs(at, timeZone) === asUtc) ?? before;
  return new Date(means).toISOString().replace('.000Z', 'Z');
}

const DAY_MS = 86_400_000;

/** How far a zone is ahead of UTC at a time. */
export const zoneOffsetMs = (at: number, timeZone: string): number =>
  Date.parse(`${instantToWall(at, timeZone)}Z`) - Math.floor(at / 1_000) * 1_000;
