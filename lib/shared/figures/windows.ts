export const WINDOW_SECONDS = {
  '15m': 900,
  '1h': 3_600,
  '24h': 86_400,
  '7d': 604_800,
  '30d': 2_592_000,
  '90d': 7_776_000,
} as const;
export type Window = keyof typeof WINDOW_SECONDS;
export const WINDOWS = Object.keys(WINDOW_SECONDS) as Window[];
export const DEFAULT_WINDOW: Window = '1h';

/** Minutes are kept for two days, then hours: windows longer than this start at a whole hour. */
const HOURS_ONLY_SECONDS = 86_400;

/** Start of a window up to `nowMs`, rounded down to the minute, or to the hour if long; milliseconds since the epoch. */
export function windowStartMs(window: Window, nowMs: number): number {
  const sliceMs = WINDOW_SECONDS[window] > HOURS_ONLY_SECONDS ? 3_600_000 : 60_000;
  return Math.floor((nowMs - WINDOW_SECONDS[window] * 1_000) / sliceMs) * sliceMs;
}

/** The time of a series: a window up to now, or from one ISO 8601 time (inclusive) to another (exclusive). */
export type SeriesSpan = { window: Window } | { from: string; to: string };

export const SPAN_SECONDS_MIN = 900;
const SPAN_SECONDS_MAX = 7_776_000;

const STEPS_SECONDS = [60, 300, 900, 3_600, 14_400, 86_400] as const;
const POINTS_MAX = 180;

/** Seconds per point of a series: the smallest step that gives at most 180 points. */
export const stepSecondsOf = (span: SeriesSpan): number => STEPS_SECONDS.find((step) => spanSeconds(span) / step <= POINTS_MAX) ?? 86_400;

/** Length of a span in seconds; NaN for invalid times. */
export const spanSeconds = (span: SeriesSpan): number =>
  'window' in span ? WINDOW_SECONDS[span.window] : (Date.parse(span.to) - Date.parse(span.from)) / 1_000;

export type SpanProblem = 'not_a_time' | 'backwards' | 'too_short' | 'too_long';

/** Why two ISO 8601 times are no valid span; null if they are. */
export function spanProblem(from: string, to: string): SpanProblem | null {
  const seconds = spanSeconds({ from, to });
  if (Number.isNaN(seconds)) return 'not_a_time';
  if (seconds <= 0) return 'backwards';
  if (seconds < SPAN_SECONDS_MIN) return 'too_short';
  return seconds > SPAN_SECONDS_MAX ? 'too_long' : null;
}
