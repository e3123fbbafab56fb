import { expect, it } from 'vitest';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import { zoneOffsetMs } from '@/lib/shared/text/zoned-time';
import {
  ageAxis,
  countAxis,
  durationAxis,
  isReadLeft,
  type ChartLine,
  namedTicks,
  paneHeights,
  runsOf,
  timeTicks,
  CHART_HEIGHT,
  INSET,
  type Pane,
  selectedSpan,
} from './chart-model';

const at = (iso: string) => Date.parse(iso);
const clock = (ticks: number[]) => ticks.map((tick) => new Date(tick).toISOString().slice(5, 16));

it('puts ticks on round times of the reader, not of UTC', () => {
  const offset = zoneOffsetMs(at('2026-11-21T00:00:00Z'), 'Asia/Kolkata');
  expect(offset).toBe(19_800_000);
  expect(clock(timeTicks(at('2026-11-20T00:00:00Z'), at('2026-11-21T00:00:00Z'), offset))).toEqual([
    '11-20T02:30',
    '11-20T06:30',
    '11-20T10:30',
    '11-20T14:30',
    '11-20T18:30',
    '11-20T22:30',
  ]);
});

it.each([
  [900, 5],
  [3_600, 6],
  [86_400, 7],
  [604_800, 7],
])('gives a window of %i s between four and eight ticks', (seconds) => {
  const end = at('2026-11-21T10:07:30Z');
  const ticks = timeTicks(end - seconds * 1_000, end, 0);
  expect(ticks.length).toBeGreaterThanOrEqual(4);
  expect(ticks.length).toBeLessThanOrEqual(8);
});

it('knows a zone behind UTC and daylight saving', () => {
  expect(zoneOffsetMs(at('2026-07-01T12:00:00Z'), 'America/New_York')).toBe(-14_400_000);
  expect(zoneOffsetMs(at('2026-12-01T12:00:00.5Z'), 'America/New_York')).toBe(-18_000_000);
});

it('draws durations between familiar times, whatever is measured, and with nothing measured', () => {
  expect(durationAxis([84, 3_140])).toEqual({ domain: [10, 10_000], ticks: [10, 100, 1_000, 10_000] });
  expect(durationAxis([100, 100]).domain).toEqual([100, 1_000]);
  expect(durationAxis([0, 0.2]).domain).toEqual([1, 10]);
  expect(durationAxis([]).ticks).toEqual([10, 100, 1_000, 10_000]);
});

it.each([
  [[], [0, 1]],
  [[0], [0, 1]],
  [[0.4], [0, 1]],
  [[2], [0, 1, 2]],
  [[7], [0, 3, 6, 9]],
  [
    [62, 71],
    [0, 25, 50, 75],
  ],
  [[1_000_000], [0, 400_000, 800_000, 1_200_000]],
])('counts %j in whole steps of a familiar size', (values, ticks) => {
  expect(countAxis(values, 3)).toEqual({ domain: [0, ticks.at(-1)], ticks });
});

it('never leaves more than a third of the height empty above a count', () => {
  for (let greatest = 3; greatest < 3_000; greatest++)
    for (const steps of [2, 3]) {
      const { domain, ticks } = countAxis([greatest], steps);
      expect(domain[1]).toBeGreaterThanOrEqual(greatest);
      expect(greatest / domain[1], String(greatest)).toBeGreaterThan(0.66);
      expect(ticks.length).toBeLessThanOrEqual(steps + 1);
    }
});

it('names the ends of an axis, and between them only what has room', () => {
  const { ticks, domain } = durationAxis([1, 3_600_000]);
  const placeOf = (tick: number) => 100 - (Math.log(tick) / Math.log(domain[1])) * 100;
  const named = namedTicks(ticks, placeOf);
  expect(ticks).toHaveLength(8);
  expect(named.at(0)).toBe(1);
  expect(named.at(-1)).toBe(3_600_000);
  const places = named.map(placeOf);
  expect(Math.min(...places.slice(1).map((place, index) => (places[index] ?? 0) - place))).toBeGreaterThanOrEqual(16);
});

it('ends ages at a familiar time with a familiar half', () => {
  expect(ageAxis([434_000]).ticks).toEqual([0, 300_000, 600_000]);
  expect(ageAxis([0]).ticks).toEqual([0, 1_000, 2_000]);
  expect(ageAxis([]).domain).toEqual([0, 2_000]);
});

it('reads a step on the side where it covers no peak, if there is room', () => {
  const points = Array.from({ length: 60 }, (_, index) => ({ waiting: index === 25 ? 900 : 3 })) as unknown as RatedPoint[];
  const lines = [{ key: 'waiting' }] as ChartLine[];
  const left = (index: number, width = 900) => isReadLeft({ points }, lines, index, width);
  expect([left(20), left(24)]).toEqual([true, true]);
  expect([left(26), left(40)]).toEqual([false, false]);
  expect([left(2), left(57)]).toEqual([false, true]);
  // A phone has no room on either side.
  expect([left(20, 300), left(40, 300)]).toEqual([false, true]);
});

it('finds runs of points, such as gaps', () => {
  expect(runsOf([1, 0, 0, 1, 0], (value) => value === 0)).toEqual([
    [1, 3],
    [4, 5],
  ]);
  expect(runsOf([1, 1], (value) => value === 0)).toEqual([]);
});

it('fills the same height with one pane and with two', () => {
  const pane = { kind: 'lines' } as Pane;
  for (const panes of [[pane], [pane, pane]])
    expect(paneHeights(panes).reduce((sum, height) => sum + height, INSET.bottom)).toBe(CHART_HEIGHT);
});

const minute = 60_000;
const hour = { from: 0, to: 60 * minute, stepMs: minute };
const inMinutes = (span: { from: number; to: number }) => [span.from / minute, span.to / minute];

it('takes whole steps, whichever way one drags', () => {
  expect(inMinutes(selectedSpan({ anchor: 10 * minute, at: 39 * minute }, hour))).toEqual([10, 40]);
  expect(inMinutes(selectedSpan({ anchor: 39 * minute, at: 10 * minute }, hour))).toEqual([10, 40]);
});

it('widens to a quarter of an hour around what was selected, and stays within what is shown', () => {
  expect(inMinutes(selectedSpan({ anchor: 30 * minute, at: 30 * minute }, hour))).toEqual([23, 38]);
  expect(inMinutes(selectedSpan({ anchor: 0 * minute, at: 2 * minute }, hour))).toEqual([0, 15]);
  expect(inMinutes(selectedSpan({ anchor: 58 * minute, at: 59 * minute }, hour))).toEqual([45, 60]);
});

it('is a quarter of an hour at least, even where less is shown', () => {
  expect(inMinutes(selectedSpan({ anchor: 2 * minute, at: 3 * minute }, { from: 0, to: 10 * minute, stepMs: minute }))).toEqual([0, 15]);
});
