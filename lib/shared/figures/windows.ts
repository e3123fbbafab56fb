/** The windows the console offers, shortest first. */
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

/** Minutes are kept for two days, then hours: a longer window begins with a whole hour. */
const HOURS_ONLY_SECONDS = 86_400;

/** When a window up to `nowMs` begins: at the whole minute before, of a long one at the whole hour; milliseconds since the epoch. */
export function windowStartMs(window: Window, nowMs: number): number {
  const sliceMs = WINDOW_SECONDS[window] > HOURS_ONLY_SECONDS ? 3_600_000 : 60_000;
  return Math.floor((nowMs - WINDOW_SECONDS[window] * 1_000) / sliceMs) * sliceMs;
}

/** What a series is of: a window up to now, or a span of its own from one ISO 8601 time up to but without another. */
export type SeriesSpan = { window: Window } | { from: string; to: string };

/** The shortest and the longest span of its own, in seconds. */
export const SPAN_SECONDS_MIN = 900;
const SPAN_SECONDS_MAX = 7_776_000;

const STEPS_SECONDS = [60, 300, 900, 3_600, 14_400, 86_400] as const;
const POINTS_MAX = 180;

/** Seconds per point of a series: the smallest kept step that gives at most 180 points. */
export function stepSecondsOf(span: SeriesSpan): number {
  const seconds = spanSeconds(span);
  return STEPS_SECONDS.find((step) => seconds / step <= POINTS_MAX) ?? 86_400;
}

/** The length of a span in seconds; NaN when its times are none. */
export function spanSeconds(span: SeriesSpan): number {
  return 'window' in span ? WINDOW_SECONDS[span.window] : (Date.parse(span.to) - Date.parse(span.from)) / 1_000;
}

export type SpanProblem = 'not_a_time' | 'backwards' | 'too_short' | 'too_long';

/** Why two ISO 8601 times make no span, or null when they do. */
export function spanProblem(from: string, to: string): SpanProblem | null {
  const seconds = spanSeconds({ from, to });
  if (Number.isNaN(seconds)) return 'not_a_time';
  if (seconds <= 0) return 'backwards';
  if (seconds < SPAN_SECONDS_MIN) return 'too_short';
  return seconds > SPAN_SECONDS_MAX ? 'too_long' : null;
}
