import { expect, it } from 'vitest';
import { parseInput } from './input';
import { seriesQuery } from './series-query';

const FROM = '2026-11-21T09:00:00Z';

it('takes a window, a span of its own, a type and a format', () => {
  expect(parseInput(seriesQuery, {})).toEqual({ span: { window: '1h' } });
  expect(parseInput(seriesQuery, { window: '90d', type: 'order_complete', format: 'csv' })).toEqual({
    span: { window: '90d' },
    type: 'order_complete',
    format: 'csv',
  });
  expect(parseInput(seriesQuery, { from: FROM, to: '2026-11-21T11:00:00+01:00' })).toEqual({
    span: { from: '2026-11-21T09:00:00.000Z', to: '2026-11-21T10:00:00.000Z' },
  });
});

it.each([
  [{ window: '2h' }, 'window: write one of 15m, 1h, 24h, 7d, 30d, 90d'],
  [{ window: '1h', from: FROM, to: '2026-11-21T10:00:00Z' }, 'window: write either window, or from and to'],
  [{ from: FROM }, 'to: write both from and to'],
  [{ to: FROM }, 'from: write both from and to'],
  [{ from: FROM, to: 'noon' }, 'to: write a time such as 2026-11-21T14:00:00Z'],
  [{ from: FROM, to: '2026-11-21T08:00:00Z' }, 'to: write a time after from'],
  [{ from: FROM, to: '2026-11-21T09:10:00Z' }, 'to: write a time at least 15 minutes after from'],
  [{ from: FROM, to: '2027-11-21T09:00:00Z' }, 'to: write a time at most 90 days after from'],
  [{ format: 'xlsx' }, 'format: write json or csv'],
  [{ span: '1h' }, 'span: unknown'],
])('says what is wrong with %j', (query, words) => {
  expect(() => parseInput(seriesQuery, query)).toThrow(words);
});
