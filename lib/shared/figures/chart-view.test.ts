import { expect, it } from 'vitest';
import { parseChartView, seriesQuery, withChartView } from './chart-view';

const parse = (query: string) => parseChartView(new URLSearchParams(query));

it('reads window, span and type from an address, and leaves out what makes no sense', () => {
  expect(parse('window=7d&type=order_complete')).toEqual({ window: '7d', span: { window: '7d' }, type: 'order_complete' });
  expect(parse('from=2026-11-21T10:00:00%2B01:00&to=2026-11-21T10:00:00.000Z')).toEqual({
    window: '1h',
    span: { from: '2026-11-21T09:00:00Z', to: '2026-11-21T10:00:00Z' },
  });
  expect(parse('window=2y&from=yesterday&to=2026-11-21T10:00:00Z&type=')).toEqual({ window: '1h', span: { window: '1h' } });
  // A quarter of an hour is the least.
  expect(parse('from=2026-11-21T10:00:00Z&to=2026-11-21T10:10:00Z').span).toEqual({ window: '1h' });
});

it('goes back to the window when a span of its own is given up, keeping the rest of the address', () => {
  const zoomed = withChartView(new URLSearchParams('window=24h&x=1'), {
    span: { from: '2026-11-21T09:00:00Z', to: '2026-11-21T10:00:00Z' },
    type: 'a&b',
  });
  expect(parse(zoomed)).toEqual({ window: '24h', span: { from: '2026-11-21T09:00:00Z', to: '2026-11-21T10:00:00Z' }, type: 'a&b' });
  expect(withChartView(new URLSearchParams(zoomed), { span: { window: '24h' } })).toBe('window=24h&x=1');
});

it('asks the HTTP surface for the same', () => {
  expect(seriesQuery({ span: { window: '1h' } })).toBe('window=1h');
  expect(seriesQuery({ span: { from: '2026-11-21T09:00:00Z', to: '2026-11-21T10:00:00Z' }, type: 'a b' })).toBe(
    'from=2026-11-21T09%3A00%3A00Z&to=2026-11-21T10%3A00%3A00Z&type=a+b',
  );
});
