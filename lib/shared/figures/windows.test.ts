import { expect, it } from 'vitest';
import { WINDOWS, type Window, spanProblem, spanSeconds, stepSecondsOf } from './windows';

const START = Date.parse('2026-11-21T00:00:00Z');
const spanOf = (seconds: number) => ({ from: new Date(START).toISOString(), to: new Date(START + seconds * 1_000).toISOString() });

const STEP_SECONDS: Record<Window, number> = { '15m': 60, '1h': 60, '24h': 900, '7d': 3_600, '30d': 14_400, '90d': 86_400 };

it('gives a window and a span of the same length the same step, and at most 180 points', () => {
  for (const window of WINDOWS) {
    const seconds = spanSeconds({ window });
    expect(stepSecondsOf({ window })).toBe(STEP_SECONDS[window]);
    expect(stepSecondsOf(spanOf(seconds))).toBe(STEP_SECONDS[window]);
    expect(seconds / stepSecondsOf({ window })).toBeLessThanOrEqual(180);
  }
});

it('takes the smallest step that is enough', () => {
  expect(stepSecondsOf(spanOf(180 * 60))).toBe(60);
  expect(stepSecondsOf(spanOf(180 * 60 + 1))).toBe(300);
  expect(stepSecondsOf(spanOf(180 * 900 + 1))).toBe(3_600);
});

it.each([
  ['yesterday', '2026-11-21T00:00:00Z', 'not_a_time'],
  ['2026-11-21T00:00:00Z', '2026-11-21T00:00:00Z', 'backwards'],
  ['2026-11-21T00:00:00Z', '2026-11-20T00:00:00Z', 'backwards'],
  ['2026-11-21T00:00:00Z', '2026-11-21T00:14:59Z', 'too_short'],
  ['2026-11-21T00:00:00Z', '2026-11-21T00:15:00Z', null],
  ['2026-08-23T00:00:00Z', '2026-11-21T00:00:00Z', null],
  ['2026-08-22T23:59:59Z', '2026-11-21T00:00:00Z', 'too_long'],
])('says why %s to %s is no span: %s', (from, to, problem) => {
  expect(spanProblem(from, to)).toBe(problem);
});
