import { expect, it } from 'vitest';
import { selectedSpan } from './selection';

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
