import { expect, it } from 'vitest';
import { sparklineShape } from './sparkline';

it('draws a line from zero at the bottom to the highest value at the top', () => {
  expect(sparklineShape([0, 5, 10], 100, 20)).toEqual({
    lines: ['M0 20L50 10L100 0'],
    grounds: ['M0 20L50 10L100 0L100 20L0 20Z'],
    dots: [{ x: 100, y: 0 }],
  });
});

it('leaves a gap where nothing is known, and does not drop a lone value', () => {
  const shape = sparklineShape([1, null, 2, 2, null], 80, 10);
  expect(shape.lines).toEqual(['M40 0L60 0']);
  expect(shape.grounds).toHaveLength(1);
  expect(shape.dots).toEqual([{ x: 0, y: 5 }]);
  expect(sparklineShape([null, 2], 80, 10)).toEqual({ lines: [], grounds: [], dots: [{ x: 80, y: 0 }] });
});

it('keeps an idle outbox flat at the bottom', () => {
  expect(sparklineShape([0, 0], 10, 10).lines).toEqual(['M0 10L10 10']);
  expect(sparklineShape([], 10, 10).lines).toEqual([]);
});
