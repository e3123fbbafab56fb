/** The time in a record's id, by the clock of the console that made it. */

/** Clocks further apart than this disagree. */
const TOLERANCE_MS = 300_000;
/** Version 7: the first 48 bits are milliseconds since the epoch. */
const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** ISO 8601 UTC; null if the id holds no time. */
export function timeInId(id: string): string | null {
  const [, high, low] = UUID_V7.exec(id) ?? [];
  if (high === undefined || low === undefined) return null;
  return new Date(Number.parseInt(high + low, 16)).toISOString();
}

/** Whether a record's time and that in its id are too far apart for both clocks to be right. */
export function isTimeOff(id: string, at: string): boolean {
  const made = timeInId(id);
  return made !== null && Math.abs(Date.parse(made) - Date.parse(at)) > TOLERANCE_MS;
}
