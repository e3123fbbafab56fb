/** The windows the console offers, shortest first, with the width of one point of a series. */
export const WINDOWS = ['15m', '1h', '24h', '7d', '30d', '90d'] as const;
export type Window = (typeof WINDOWS)[number];

export const DEFAULT_WINDOW: Window = '1h';

export const WINDOW_SECONDS: Record<Window, number> = {
  '15m': 900,
  '1h': 3_600,
  '24h': 86_400,
  '7d': 604_800,
  '30d': 2_592_000,
  '90d': 7_776_000,
};

/** Seconds per point: up to 180 points whatever the window; a minute is the least that is kept. */
export const STEP_SECONDS: Record<Window, number> = {
  '15m': 60,
  '1h': 60,
  '24h': 900,
  '7d': 3_600,
  '30d': 14_400,
  '90d': 86_400,
};

export function isWindow(value: unknown): value is Window {
  return typeof value === 'string' && (WINDOWS as readonly string[]).includes(value);
}
