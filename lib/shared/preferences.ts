import { BASE_PATH } from './base-path';

/** Cookies for display preferences. They hold no secret; the browser writes them, the server reads them. */
export const LOCALE_COOKIE = 'outbox-console.language';
export const TIME_ZONE_COOKIE = 'outbox-console.time-zone';
/** `icons` if the rail is collapsed. */
export const RAIL_COOKIE = 'outbox-console.rail';

/** Where Mantine keeps the theme; below a base path under a name of our own, as the host may use Mantine too. */
export const THEME_KEY = BASE_PATH === '' ? 'mantine-color-scheme-value' : `outbox-console${BASE_PATH}.theme`;

export const DEFAULT_TIME_ZONE = 'UTC';

/** True for a time zone this runtime knows, such as `Asia/Seoul`. */
export function isTimeZone(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > 64) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
