/** How long a stopped relay needs once it is back. */
import { expect, test } from 'vitest';
import { ago, before, historyOf, judge, type Given } from '@/fixtures/readings';
import { emptyCell } from '@/lib/rollup/cell';
import type { RecentHistory } from '../evidence/circumstances';

const still = (seconds: number): Given => ({ lastPublishedAt: ago(seconds + 1), relay: { due: 1_200, firstDue: ago(seconds) } });
const forecastOf = (given: Given, history: RecentHistory | null) =>
  judge(given, before(given), { history }).evidence.find(({ code }) => code === 'back_needs')?.values;

test('says how long what is due takes once it is back, by the pace of minutes in which events went out', () => {
  const given = still(300);
  expect(forecastOf(given, historyOf(400, [], 60))).toEqual({ fromMs: 1_200_000, toMs: 1_200_000 });
  const uneven = [60, 0, 100, 120, 10, 0].map((published) => ({ ...emptyCell(), minutes: 1, published }));
  expect(forecastOf(given, { minutes: uneven, typesPublished: new Set() })).toEqual({ fromMs: 600_000, toMs: 1_200_000 });
});

test('says nothing of it where the pace is not known, or not all that is due was read', () => {
  const given = still(400);
  const two = historyOf(400, [], 60).minutes.slice(0, 2);
  expect(forecastOf(given, { minutes: two, typesPublished: new Set() })).toBeUndefined();
  expect(forecastOf(given, null)).toBeUndefined();
  expect(forecastOf({ ...given, reach: { waiting: 'cut' } }, historyOf(400))).toBeUndefined();
  expect(judge({ ...given, reach: { waiting: 'cut' } }, before(given), { history: historyOf(400) }).verdict).toBe('relay_stopped');
});
