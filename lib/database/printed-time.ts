/** A date and a time of day as a column prints them. */
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
