import type { Random } from '../random';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Traffic has been rising towards today's rate over roughly this long. */
const RISE_MS = 25 * 60_000;

export interface TimelineOptions {
  random: Random;
  now: number;
  days: number;
  /** Events over all days, about. */
  rows: number;
  /** Events per second at the end, where live traffic takes over. */
  liveRate: number;
}

/** When things happened, in milliseconds since the epoch, oldest first: nights are quiet, and today is busy. */
export function timeline({ random, now, days, rows, liveRate }: TimelineOptions): number[] {
  const risen = liveRate * (RISE_MS / 1_000);
  const perHour = Math.max(0, rows - risen) / (days * 24);
  const times: number[] = [];
  for (let hour = 0; hour < days * 24; hour += 1) {
    const start = now - days * DAY_MS + hour * HOUR_MS;
    const expected = perHour * rhythm(start + HOUR_MS / 2);
    const count = Math.floor(expected) + (random.chance(expected % 1) ? 1 : 0);
    for (let index = 0; index < count; index += 1) times.push(start + random.float() * HOUR_MS);
  }
  for (let index = 0; index < risen; index += 1) times.push(now - random.wait(1) * RISE_MS);
  return times.filter((time) => time < now).sort((a, b) => a - b);
}

/** How busy the shop is at this time of day, 1 on average: quiet at five in the morning, busiest in the early evening. */
function rhythm(time: number): number {
  const hour = (time % DAY_MS) / HOUR_MS;
  return 1 + 0.75 * Math.sin(((hour - 11) / 24) * 2 * Math.PI);
}
