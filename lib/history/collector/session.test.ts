import { expect, it } from 'vitest';
import { cellIn, type Additions, ALL_TYPES, OTHER_TYPES, seriesOfType, TYPES_KEPT } from '@/lib/rollup/cell';
import { SeriesNames } from './session';

it('gives the first two hundred types a series each and puts the rest together, whoever saw them', () => {
  const names = new SeriesNames([]);
  const additions: Additions = new Map();
  for (let type = 0; type < TYPES_KEPT + 50; type += 1) cellIn(additions, 7, seriesOfType(`type ${String(type)}`)).failures = 1;
  cellIn(additions, 7, ALL_TYPES).failures = TYPES_KEPT + 50;
  const sum: Additions = new Map();
  names.add(sum, additions);
  const minute = sum.get(7);
  expect(minute?.size).toBe(TYPES_KEPT + 2);
  expect(minute?.get(OTHER_TYPES)?.failures).toBe(50);
  expect(minute?.get(ALL_TYPES)?.failures).toBe(TYPES_KEPT + 50);
  expect(names.of('one more')).toBe(OTHER_TYPES);
});
