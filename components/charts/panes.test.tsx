import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { RatedPoint } from '@/lib/shared/figures/series-rates';
import { type BarPane, type LinePane, timeSpan } from './chart-model';
import { LinePaneChart } from './panes';

const START = Date.parse('2026-11-21T14:00:00Z');
const spanOf = (points: Partial<RatedPoint>[]) =>
  timeSpan(
    points.map((point, index) => ({ at: new Date(START + index * 60_000).toISOString(), ...point }) as RatedPoint),
    60,
  );
const axis = { ticks: [START + 60_000], tickText: () => '14:01' };
const format = String;

function draw(pane: LinePane | BarPane, points: Partial<RatedPoint>[], height = 200): string {
  const span = spanOf(points);
  return renderToStaticMarkup(<LinePaneChart pane={pane} span={span} axis={axis} width={372} height={height} last />);
}
const paths = (markup: string) => [...markup.matchAll(/<path[^>]* d="([^"]+)"|<path d="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '');
const texts = (markup: string) => [...markup.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);

const waiting: LinePane = {
  kind: 'lines',
  scale: 'linear',
  unit: 'events',
  format,
  lines: [{ key: 'waiting', label: 'waiting', hue: 'blue', filled: true, format }],
};

it('breaks a line where nobody watched, and keeps a value that stands alone as a dot', () => {
  const drawn = paths(draw(waiting, [{ waiting: 0 }, { waiting: 4 }, { waiting: null }, { waiting: 2 }, { waiting: null }]));
  // 60 px a step; 0 is at 176, 4 on top of the plot.
  expect(drawn).toContain('M86 176L146 24M266 100');
  expect(drawn).toContain('M266 100h0');
});

it('names counts and times, and draws an empty minute at zero', () => {
  const markup = draw(waiting, [{ waiting: 0 }, { waiting: 0 }]);
  expect(texts(markup)).toEqual(['0', '1', '14:01']);
});

it('leaves no two names closer than a text is high, after a spike of a million', () => {
  const durations: LinePane = {
    ...waiting,
    scale: 'durations',
    band: { low: 'p50Ms', high: 'p99Ms', hue: 'violet' },
    lines: [{ key: 'p50Ms', label: 'p50', hue: 'accent', format }],
  };
  const markup = draw(
    durations,
    [
      { p50Ms: 1, p99Ms: 3 },
      { p50Ms: 3_600_000, p99Ms: 5_000_000 },
    ],
    152,
  );
  const places = [...markup.matchAll(/<text[^>]* y="([\d.]+)"[^>]*>\d/g)].map(([, y]) => Number(y)).slice(0, -1);
  expect(places.length).toBeGreaterThan(3);
  for (const [index, place] of places.slice(1).entries()) expect((places[index] ?? 0) - place).toBeGreaterThanOrEqual(16);
  // What is longer than the axis ends at its top.
  expect(Math.min(...places)).toBe(24);
});

it('draws a bar per known step, from the axis up', () => {
  const bars: BarPane = {
    kind: 'bars',
    unit: 'events',
    format,
    lines: [{ key: 'latencyCount', label: 'events', hue: 'grey', barred: true, format }],
  };
  const drawn = paths(draw(bars, [{ latencyCount: 1 }, { latencyCount: null }, { latencyCount: 2 }]));
  expect(drawn).toContain('M66 176V100h80V176ZM266 176V24h80V176Z');
});
