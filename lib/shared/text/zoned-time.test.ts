import { expect, test } from 'vitest';
import { instantToWall, wallToInstant } from './zoned-time';

test.each([
  ['2026-11-21T14:02:11', 'Asia/Seoul', '2026-11-21T05:02:11Z'],
  ['2026-11-21T14:02', 'UTC', '2026-11-21T14:02:00Z'],
  ['2026-07-01T00:00:00', 'America/New_York', '2026-07-01T04:00:00Z'],
  // Twice on the last Sunday of October: the first pass is still summer time.
  ['2026-10-25T02:30:00', 'Europe/Bratislava', '2026-10-25T00:30:00Z'],
  // Skipped on the last Sunday of March.
  ['2026-03-29T02:30:00', 'Europe/Bratislava', '2026-03-29T01:30:00Z'],
])('%s in %s is %s', (wall, zone, instant) => {
  expect(wallToInstant(wall, zone)).toBe(instant);
});

test('what is no time is null', () => {
  expect(wallToInstant('', 'UTC')).toBeNull();
});

test('an instant is shown on the clock of the zone', () => {
  expect(instantToWall('2026-11-20T23:30:00Z', 'Asia/Seoul')).toBe('2026-11-21T08:30:00');
});
